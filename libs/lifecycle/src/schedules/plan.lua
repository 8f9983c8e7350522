#!lua
--[[
  schedules: writes a schedule down, in two steps around what is noted with its owners: should whoever does it die in
  between, what it noted is found from here and taken back.

  Of two changes at once the newer one counts, and the older one is told so.

    KEYS[1]   the book: zset, schedule -> when it is looked at next, ms; :<schedule> beside it, in the same slot: a hash

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   the schedule
    ARGV[3]   begin, and then its owners as written, as JSON
              finish, and then the number of the change; id; definition; owners and their epochs, as JSON; its timing, as
              text; when it is due first, ms

  Answers of begin {number of the change, now}; of finish 'created', 'replaced', or 'overtaken'.
]]
--- @include each
--- @include schedule
if #ARGV ~= ({ begin = 4, finish = 10 })[ARGV[3]] then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, member, act = clock(ARGV[1]), ARGV[2], ARGV[3]
local book, hash = KEYS[1], KEYS[1] .. ':' .. member
redis.call('ZSCORE', book, member)

if act == 'begin' then
  local owners, change = texts(ARGV[4]), whole(nextChange(hash, now))
  redis.call('HSET', hash, 'b', change)
  for _, owner in ipairs(owners) do
    redis.call('HSET', hash, 'p' .. owner, change .. '|' .. whole(now))
  end
  lookLater(book, member, hash, now)
  return { change, whole(now) }
end

local change, id, definition, owners, epochs = ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local timing, due = ARGV[9], number(ARGV[10])
local known = redis.call('HMGET', hash, 'b', 'o', 'e', 't', 'n')
local ownersNow, ownersBefore = texts(owners), texts(known[2] or '[]')
if known[1] ~= change then
  return 'overtaken'
end
for _, owner in ipairs(ownersBefore) do
  redis.call('HSET', hash, 'p' .. owner, change .. '|' .. whole(now))
end
for _, owner in ipairs(ownersNow) do
  redis.call('HDEL', hash, 'p' .. owner)
end
-- The same timing goes on: a schedule that is written anew at every start of a program would never be due.
if known[5] and known[3] == epochs and known[4] == timing then
  due = tonumber(known[5])
end
redis.call('HSET', hash, 'i', id, 'd', definition, 'o', owners, 'e', epochs, 't', timing, 'n', whole(due))
redis.call('HDEL', hash, 'x')
lookLater(book, member, hash, now)
return known[2] and 'replaced' or 'created'
