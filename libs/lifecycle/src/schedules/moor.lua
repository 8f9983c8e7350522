#!lua
--[[
  schedules: notes with each of many owners that a schedule is theirs, and tells the epoch it belongs to; or says why not.

  The epoch is read and the note written in one step, so that a cancel is wholly before or wholly after. A note of a later
  change to the schedule stays: of two that come at once the newer one counts. Sent twice, the answer is the same.

    KEYS[i]   record of an owner; :schedules beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    then 4 for each key: the owner as written; the schedule; the number of the change; how many schedules an owner may have

  Answers for each: {'moored', epoch}, {'closed'}, {'full', how many}, or {'error', text}.
]]
--- @include each
local now = clock(ARGV[1])

local function moor(record, at)
  local owner, schedule, change, limit = ARGV[at], ARGV[at + 1], number(ARGV[at + 2]), number(ARGV[at + 3])
  local schedules = record .. ':schedules'
  local known = redis.call('HMGET', record, 'e', 's', 'v')
  local epoch, state, counter = known[1], known[2], number(known[3] or '0')
  local noted = tonumber(string.match(redis.call('HGET', schedules, schedule) or '', '|(%d+)$') or 0)
  if state == 'closed' then
    return { 'closed' }
  end
  if noted == 0 then
    local living = 0
    for _, note in ipairs(redis.call('HVALS', schedules)) do
      if string.match(note, '^%d+') == epoch then
        living = living + 1
      end
    end
    if living >= limit then
      return { 'full', tostring(living) }
    end
  end

  if not epoch then
    -- From the clock, so that an owner that was forgotten never gets an epoch it had before.
    epoch = whole(now * 1000)
    redis.call('HSET', record, 'e', epoch, 'o', owner, 'n', '0', 's', 'open')
  else
    redis.call('PERSIST', record)
  end
  -- The owner was wanted now: no sweep may take it for old.
  redis.call('HSET', record, 'v', whole(counter + 1), 'l', whole(now))
  redis.call('HSET', schedules, schedule, epoch .. '|' .. whole(math.max(noted, change)))
  return { 'moored', epoch }
end

return each(moor, 2, 4)
