#!lua flags=allow-oom
--[[
  schedules: a schedule has had its turn, and is due again later. Of several that say so of one turn the first counts; one
  that was changed meanwhile is as its change has it.

    KEYS[1]   the book; :<schedule> beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   the schedule
    ARGV[3]   its epochs; ARGV[4] when this turn was due, ms; ARGV[5] when the next one is, the same for one that has not
              had it
    ARGV[6]   the job, '' for none; ARGV[7] why there is none, ''

  Answers 1 when it counted, else 0.
]]
--- @include each
--- @include schedule
if #ARGV ~= 7 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, member, epochs, due, nextDue = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], number(ARGV[5])
local job, why = ARGV[6], ARGV[7]
local book, hash = KEYS[1], KEYS[1] .. ':' .. member
redis.call('ZSCORE', book, member)
local known = redis.call('HMGET', hash, 'e', 'n')
local isIt = known[1] == epochs and known[2] == due
if isIt then
  redis.call('HSET', hash, 'n', whole(nextDue))
  if job ~= '' then
    redis.call('HSET', hash, 'l', whole(now), 'j', job)
    redis.call('HDEL', hash, 'x')
  end
  if why ~= '' then
    redis.call('HSET', hash, 'x', why)
  end
end
lookLater(book, member, hash, now)
return isIt and 1 or 0
