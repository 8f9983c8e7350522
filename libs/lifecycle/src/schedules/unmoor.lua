#!lua flags=allow-oom
--[[
  schedules: a schedule is not these owners' any more. What a later change noted stays.

    KEYS[i]   record of an owner; :schedules beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   how long the record of an owner is kept without jobs, ms; ARGV[3] the same for a closed one
    then 2 for each key: the schedule; the number of the change up to which its note goes

  Answers for each: {'ok'}, or {'error', text}.
]]
local META = 6

--- @include each
local now, keep, keepClosed = clock(ARGV[1]), number(ARGV[2]), number(ARGV[3])

local function unmoor(record, at)
  local schedule, change = ARGV[at], number(ARGV[at + 1])
  local schedules = record .. ':schedules'
  local noted = string.match(redis.call('HGET', schedules, schedule) or '', '|(%d+)$')
  local state = redis.call('HGET', record, 's')
  if not noted or tonumber(noted) > change then
    return { 'ok' }
  end
  redis.call('HDEL', schedules, schedule)
  if redis.call('HLEN', record) <= META and redis.call('EXISTS', schedules) == 0 then
    redis.call('PEXPIRE', record, state == 'open' and keep or keepClosed)
  end
  return { 'ok' }
end

return each(unmoor, 4, 2)
