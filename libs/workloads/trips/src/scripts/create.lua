--[[
  create: a trip is asked for.

  It is due for care until its jobs are enqueued: whoever dies in between, they are enqueued then.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   customer   ARGV[3]   drivers, JSON   ARGV[4]   how long it may be accepted, ms

  Answers {'created'}, or {'exists'}.
]]
--- @include trip
local id, customer, drivers, lives = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local key = trip_key(id)
if redis.call('EXISTS', key) == 1 then
  return { 'exists' }
end
redis.call('HSET', key, 'status', 'PENDING', 'customer', customer, 'drivers', drivers,
  'lives', text(lives), 'created', text(now), 'expires', text(now + lives))
redis.call('ZADD', root .. ':due', now + CARE_MS, id)
return { 'created' }
