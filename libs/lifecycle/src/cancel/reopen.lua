#!lua flags=allow-oom
--[[
  cancel: an owner takes jobs again, if it was closed. Its epoch stays: what was enqueued before it was closed stays dead.

  Since when it is open is kept, whatever it was before: what happened until then is no reason to cancel it again, also of
  one that was open all along, or that nobody knows yet.

    KEYS[1]   record of the owner; :schedules beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   the owner as written
    ARGV[3]   how long the record of one without jobs or schedules is kept, ms
    ARGV[4]   1 when an owner without a record gets none

  Answers {'open', epoch, 1 for an owner that never had a job, else 0}, or {'full'}: it has no record.
]]
local META = 6

--- @include each
if #ARGV ~= 4 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, owner, keep = clock(ARGV[1]), ARGV[2], number(ARGV[3])
local record = KEYS[1]
local epoch, counter = unpack(redis.call('HMGET', record, 'e', 'v'))
if not epoch and ARGV[4] == '1' then
  return { 'full' }
end
if not epoch then
  -- From the clock, so that an owner that was forgotten never gets an epoch it had before.
  epoch = whole(now * 1000)
  redis.call('HSET', record, 'e', epoch, 'v', '0', 'o', owner, 'n', '0', 'l', '0')
end
redis.call('HSET', record, 's', 'open ' .. whole(now))
local isEmpty = redis.call('HLEN', record) <= META and redis.call('EXISTS', record .. ':schedules') == 0
if isEmpty then
  redis.call('PEXPIRE', record, keep)
end
return { 'open', epoch, isEmpty and (counter or '0') == '0' and '1' or '0' }
