#!lua flags=allow-oom
--[[
  accept: a driver accepts a trip. Only one driver can.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   driver

  Answers {'accepted', another trip that the driver was offered or '', jobs to wake…}; {'again'}: already accepted by this
  driver; {'unknown'}; {'over', status}; {'not-asked'}; {'unavailable'}: the driver is offline; {'busy', trip}.
]]
--- @include trip
local id, driver = ARGV[1], ARGV[2]
local key = trip_key(id)
local trip = redis.call('HMGET', key, 'status', 'expires', 'drivers', 'driver')
local status = trip[1]
if not status then
  return { 'unknown' }
end
if status == 'ACCEPTED' and trip[4] == driver then
  return { 'again' }
end
if status ~= 'PENDING' or now >= tonumber(trip[2]) then
  return { 'over', status == 'PENDING' and 'EXPIRED' or status }
end
if not is_asked(trip[3], driver) then
  return { 'not-asked' }
end
local has = redis.call('HMGET', driver_key(driver), 'available', 'trip', 'offer')
if has[2] then
  return { 'busy', has[2] }
end
if has[1] == '0' then
  return { 'unavailable' }
end
local other = has[3] and has[3] ~= id and has[3] or ''
local other_ends = other ~= '' and redis.call('HGET', trip_key(other), 'expires')

redis.call('HSET', key, 'status', 'ACCEPTED', 'driver', driver, 'accepted', text(now))
redis.call('ZADD', root .. ':due', now + RECHECK_MS, id)
local woken = withdraw_all(id, 'accepted', driver)
if other ~= '' then
  withdraw(driver, other, 'on-a-trip')
  if other_ends then
    -- The reconciler sends the request for the other trip again.
    redis.call('HDEL', trip_key(other), 'sent')
    redis.call('ZADD', root .. ':due', recheck_at(other_ends), other)
  end
elseif has[3] then
  -- The driver's other phones still show the offer.
  show(driver, 'accepted', id, '')
end
redis.call('HDEL', driver_key(driver), 'offer')
redis.call('HSET', driver_key(driver), 'trip', id)
return { 'accepted', other, unpack(woken) }
