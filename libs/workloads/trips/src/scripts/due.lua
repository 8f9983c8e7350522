#!lua flags=allow-oom
--[[
  due: the trips that something is to be done for. Each is put off, so that another janitor leaves it alone meanwhile, and
  whoever dies with it leaves it to the next.

    KEYS[1]   the root of all keys
    ARGV[1]   how many, at most

  Answers trips, each as {trip, 'tend'}; or as {trip, 'watch'}: its jobs are sent, and its time has not come.
]]
--- @include trip
local due = root .. ':due'
local found = {}
for i, id in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, tonumber(ARGV[1]))) do
  -- One that cannot be read must not stand before the others.
  local trip = redis.pcall('HMGET', trip_key(id), 'status', 'expires', 'sent')
  local may_be_had = trip[1] == 'PENDING' and now < (tonumber(trip[2]) or 0)
  redis.call('ZADD', due, may_be_had and care_at(trip[2]) or now + CARE_MS, id)
  found[i] = { id, may_be_had and trip[3] and 'watch' or 'tend' }
end
return found
