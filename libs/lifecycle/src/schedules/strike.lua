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
if #ARGV ~= 3 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, member, epochs = clock(ARGV[1]), ARGV[2], ARGV[3]
local book, hash = KEYS[1], KEYS[1] .. ':' .. member
redis.call('ZSCORE', book, member)
local known = redis.call('HMGET', hash, 'o', 'e')
if not known[1] or (epochs ~= '' and epochs ~= known[2]) then
  return ''
end
local owners, change = texts(known[1]), whole(nextChange(hash, now))
for _, owner in ipairs(owners) do
  redis.call('HSET', hash, 'p' .. owner, change .. '|' .. whole(now))
end
redis.call('HSET', hash, 'b', change)
redis.call('HDEL', hash, 'i', 'd', 'o', 'e', 't', 'n', 'l', 'j', 'x')
lookLater(book, member, hash, now)
return change
