#!lua flags=allow-oom
--[[
  due: trips that the reconciler should check. Each is rescheduled, so that other janitors leave it alone for now and it
  becomes due again if this process dies.

    KEYS[1]   the root of all keys
    ARGV[1]   limit

  Answers {trip, 'tend'} for each; or {trip, 'watch'} if its jobs are sent and it has not expired.
]]
--- @include trip
local due = root .. ':due'
local found = {}
for i, id in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, tonumber(ARGV[1]))) do
  -- pcall: a trip of a wrong type must not block the others.
  local trip = redis.pcall('HMGET', trip_key(id), 'status', 'expires', 'sent')
  local is_open = trip[1] == 'PENDING' and now < (tonumber(trip[2]) or 0)
  redis.call('ZADD', due, is_open and recheck_at(trip[2]) or now + RECHECK_MS, id)
  found[i] = { id, is_open and trip[3] and 'watch' or 'tend' }
end
return found
