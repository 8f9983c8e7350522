#!lua flags=allow-oom
--[[
  finish: a trip ends as CANCELLED, EXPIRED or COMPLETED, and its offers are withdrawn.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   the new status   ARGV[3]   reason, shown to drivers
    ARGV[4]   'refused': the trip was not created for its customer, and its Idempotency-Key is free again

  Answers {'finished', jobs to wake…}; {'again'}: it already has this status; {'unknown'}; {'refused', status};
  {'early', ms until it expires}.
]]
--- @include trip
local FROM = {
  CANCELLED = { PENDING = true, ACCEPTED = true },
  EXPIRED = { PENDING = true },
  COMPLETED = { ACCEPTED = true },
}
local id, how, why = ARGV[1], ARGV[2], ARGV[3]
local key = trip_key(id)
local trip = redis.call('HMGET', key, 'status', 'expires', 'driver', 'key')
local status, driver = trip[1], trip[3]
if not status then
  return { 'unknown' }
end
if status == how then
  return { 'again' }
end
if not FROM[how][status] then
  return { 'refused', status }
end
if how == 'EXPIRED' and now < tonumber(trip[2]) then
  return { 'early', text(tonumber(trip[2]) - now) }
end

redis.call('HSET', key, 'status', how, 'ended', text(now), 'reason', why)
redis.call('PEXPIRE', key, TRIP_KEEP_MS)
if trip[4] and ARGV[4] == 'refused' then
  redis.call('DEL', order_key(trip[4]))
elseif trip[4] then
  redis.call('PEXPIRE', order_key(trip[4]), TRIP_KEEP_MS)
end
redis.call('ZADD', root .. ':due', now + RECHECK_MS, id)
local woken = withdraw_all(id, why)
if driver and redis.call('HGET', driver_key(driver), 'trip') == id then
  redis.call('HDEL', driver_key(driver), 'trip')
  if how == 'CANCELLED' then
    show(driver, 'withdrawn', id, why)
  end
  woken[#woken + 1] = next_in_line(driver)
  forget_idle(driver)
end
return { 'finished', unpack(woken) }
