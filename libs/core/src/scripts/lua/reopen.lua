--[[
  reopen: an owner takes jobs again. Its epoch stays, so the jobs of before stay dead; what happened until now is no reason to
  cancel it.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner   [3] how many owners may be remembered that never had a job
  Answers {'open', epoch}, or {'full'} for [3]: nothing was written.
]]
root = ARGV[1]
local owner = ARGV[2]
local now = nowUs()
local known = redis.call('HMGET', recordOf(owner), 'epoch', 'wanted')
if not known[1] and isFull(tonumber(ARGV[3]), now) then return { 'full' } end
local epoch = known[1] or whole(now)
redis.call('HSET', recordOf(owner), 'epoch', epoch, 'wanted', known[2] or '0', 'state', 'open ' .. msText(now))
redis.call('ZADD', listOf(epoch), '0', owner)
forgetIfEmpty(owner)
return { 'open', epoch }
