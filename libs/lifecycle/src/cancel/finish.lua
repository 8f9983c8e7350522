#!lua flags=allow-oom
--[[
  cancel: nothing is left of what a cancel ended.

    KEYS[1]   record of the owner; :cancels and :cancel:<cancelId> beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   digest of the cancelId

  Answers 1 to who finished it, 0 when it was finished before.
]]
--- @include each
if #ARGV ~= 2 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now = clock(ARGV[1])
local pending, receipt = KEYS[1] .. ':cancels', KEYS[1] .. ':cancel:' .. ARGV[2]
local isKept = redis.call('HEXISTS', receipt, 'e') == 1
if redis.call('HEXISTS', pending, ARGV[2]) == 0 then
  return 0
end
if isKept then
  redis.call('HSET', receipt, 'd', whole(now))
end
redis.call('HDEL', pending, ARGV[2])
return 1
