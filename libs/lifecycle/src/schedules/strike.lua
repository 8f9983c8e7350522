#!lua flags=allow-oom
--[[
  schedules: takes a schedule out of the book. What is noted of it with its owners is still to be taken back, and stays in
  the book until it is.

    KEYS[1]   the book; :<schedule> beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   the schedule
    ARGV[3]   the epochs that it must have, '' for whichever it has

  Answers the number of the change, or '' when there is no such schedule.
]]
--- @include each
--- @include schedule
local now, member, epochs = clock(ARGV[1]), ARGV[2], ARGV[3]
local book, hash = KEYS[1], KEYS[1] .. ':' .. member
redis.call('ZSCORE', book, member)
local known = redis.call('HMGET', hash, 'o', 'e')
if not known[1] or (epochs ~= '' and epochs ~= known[2]) then
  return ''
end
local change = whole(nextChange(hash, now))
for _, owner in ipairs(cjson.decode(known[1])) do
  redis.call('HSET', hash, 'p' .. owner, change .. '|' .. whole(now))
end
redis.call('HSET', hash, 'b', change)
redis.call('HDEL', hash, 'i', 'd', 'o', 'e', 't', 'n', 'l', 'j', 'x')
lookLater(book, member, hash, now)
return change
