#!lua flags=allow-oom
--[[
  sweep: forgets an owner that was closed or reopened before a time without ever having had a job. What is enqueued for it later is accepted
  then: an operator has asked for it.

    KEYS[1]   record of the owner; :schedules beside it, in the same slot

    ARGV[1]   when that must have been at the latest, ms
    ARGV[2]   1 to forget it, 0 to look only

  Answers when that was, ms; '' for any other owner.
]]
local META = 6

--- @include each
if #ARGV ~= 2 then
  return redis.error_reply('ERR wrong number of arguments')
end
local latest, record = number(ARGV[1]), KEYS[1]
local epoch, counter, state = unpack(redis.call('HMGET', record, 'e', 'v', 's'))
local reopenedAt = string.match(state or '', '^open (%d+)$')
if (state ~= 'closed' and not reopenedAt) or counter ~= '0' or redis.call('HLEN', record) > META then
  return ''
end
-- The epoch of an owner without a job is the time of the cancel that closed it last.
local since = reopenedAt and number(reopenedAt) or math.floor(number(epoch) / 1000)
if since > latest or redis.call('EXISTS', record .. ':schedules') == 1 then
  return ''
end
if ARGV[2] == '1' then
  redis.call('UNLINK', record)
end
return whole(since)
