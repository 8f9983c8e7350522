--[[
  reopen: an owner takes jobs again. Its epoch stays, so the jobs of before stay dead; what happened until now is no reason to
  cancel it.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner   [3] how many owners may be remembered that never had a job; '' for one that had jobs in another partition
    ARGV[4]  turn, as in turns.lua   [5] keep the turn for, ms   [6] when it was asked for, ms, or ''; see late.lua
  Answers {'open', epoch, turn}; {'full'} for [3], or {'late'} if the owner was closed since the turn was given, or cancelled after [6]: nothing was
  written.
]]
root = ARGV[1]
local owner = ARGV[2]
local now = nowUs()
if ARGV[6] ~= '' and late.isEnded(owner, tonumber(ARGV[6])) then return { 'late' } end
local known = redis.call('HMGET', recordOf(owner), 'epoch', 'wanted')
if not known[1] and decides(ARGV[4]) and isFull(tonumber(ARGV[3]), now) then return { 'full' } end
local turn = takeTurn(owner, ARGV[4], ARGV[5])
if not turn then return { 'late' } end
local epoch = known[1] or whole(now)
redis.call('HSET', recordOf(owner), 'epoch', epoch, 'wanted', wantedOf(owner, known[2], ARGV[3]), 'state', 'open ' .. msText(now))
redis.call('ZADD', listOf(epoch), '0', owner)
forgetIfEmpty(owner)
return { 'open', epoch, turn }
