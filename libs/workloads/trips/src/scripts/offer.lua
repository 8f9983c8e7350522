--[[
  offer: a request reaches its driver, or not.

  Whoever has an offer or a trip gets no second one: the request stands in line, with the job to be woken.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   driver   ARGV[3]   the job

  Answers {'offered'}, also when it is already; {'over', status, the job that may go on…}; {'not-asked'}; {'unavailable'};
  {'busy', 'trip' or 'offer'}.
]]
--- @include trip
local id, driver, job = ARGV[1], ARGV[2], ARGV[3]
local trip = redis.call('HMGET', trip_key(id), 'status', 'expires', 'created', 'customer', 'x' .. driver, 'drivers')
local status, expires = trip[1], tonumber(trip[2])
if status ~= 'PENDING' or now >= expires or trip[5] then
  redis.call('ZREM', line_key(driver), id)
  local over = trip[5] and 'DECLINED' or status == 'PENDING' and 'EXPIRED' or status or 'GONE'
  -- It may have been woken as the first; the next was not.
  return { 'over', over, is_free(driver) and next_in_line(driver) or nil }
end
-- Whoever may enqueue may ask for such a job; what it offered to others nobody would withdraw.
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
