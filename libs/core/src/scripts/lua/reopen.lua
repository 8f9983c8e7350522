--[[
  reopen: an owner takes jobs again. Its epoch stays, so the jobs of before stay dead; what happened until now is no reason to
  cancel it.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner
  Answers {'open', epoch}.
]]
root = ARGV[1]
local owner = ARGV[2]
local now = nowUs()
local known = redis.call('HMGET', recordOf(owner), 'epoch', 'wanted')
local epoch = known[1] or whole(now)
redis.call('HSET', recordOf(owner), 'epoch', epoch, 'wanted', known[2] or '0', 'state', 'open ' .. msText(now))
redis.call('ZADD', listOf(epoch), '0', owner)
forgetIfEmpty(owner)
return { 'open', epoch }
