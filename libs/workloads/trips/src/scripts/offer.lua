--[[
  offer: offers a trip to one of its drivers.

  A driver has one offer or trip at most. While they are busy or offline the request waits in their queue, with its job to wake.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   driver   ARGV[3]   the job

  Answers {'offered'}, also if it already was; {'over', status, the job to wake…}; {'not-asked'}; {'unavailable'};
  {'busy', 'trip' or 'offer'}.
]]
--- @include trip
local id, driver, job = ARGV[1], ARGV[2], ARGV[3]
local trip = redis.call('HMGET', trip_key(id), 'status', 'expires', 'created', 'customer', 'x' .. driver, 'drivers')
local status, expires = trip[1], tonumber(trip[2])
if status ~= 'PENDING' or now >= expires or trip[5] then
  redis.call('ZREM', line_key(driver), id)
  local over = trip[5] and 'DECLINED' or status == 'PENDING' and 'EXPIRED' or status or 'GONE'
  -- This request may have used the wake, so it passes it on.
  return { 'over', over, is_free(driver) and next_in_line(driver) or nil }
end
-- An offer to any other driver would never be withdrawn: finish withdraws from the listed drivers.
if not is_asked(trip[6], driver) then
  return { 'not-asked' }
end

local has = redis.call('HMGET', driver_key(driver), 'available', 'trip', 'offer')
if has[3] == id then
  return { 'offered' }
end
if has[1] == '1' and not has[2] and not has[3] then
  redis.call('HSET', driver_key(driver), 'offer', id)
  redis.call('ZREM', line_key(driver), id)
  redis.call('HDEL', trip_key(id), 'j' .. driver)
  show(driver, 'offer', id, text(expires) .. ' ' .. trip[4], expires - now)
  return { 'offered' }
end

redis.call('ZADD', line_key(driver), trip[3], id)
redis.call('HSET', trip_key(id), 'j' .. driver, job)
if has[1] ~= '1' then
  return { 'unavailable' }
end
return { 'busy', has[2] and 'trip' or 'offer' }
