#!lua flags=allow-oom
--[[
  cancel: leaves little of a cancel of an owner for which nothing was ever enqueued. An owner that is closed keeps its record,
  which refuses later jobs; one that is open has none afterwards, as before: the next epoch comes from the clock.

    KEYS[1]   record of the owner; :schedules and :cancel:<cancelId> beside it, in the same slot

    ARGV[1]   digest of the cancelId

  Answers used, or empty; closed when the owner is closed.
]]
local META = 6

if #ARGV ~= 1 then
  return redis.error_reply('ERR wrong number of arguments')
end
local record = KEYS[1]
local counter, state = unpack(redis.call('HMGET', record, 'v', 's'))
if counter ~= '0' or redis.call('HLEN', record) > META or redis.call('EXISTS', record .. ':schedules') == 1 then
  return counter and 'used' or 'empty'
end
if state == 'open' then
  redis.call('UNLINK', record)
end
return state == 'closed' and 'closed' or 'empty'
