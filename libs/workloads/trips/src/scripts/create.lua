--[[
  create: a trip is asked for.

  It is due for care until its jobs are enqueued: whoever dies in between, they are enqueued then.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   customer   ARGV[3]   drivers, JSON   ARGV[4]   how long it may be accepted, ms
    ARGV[5]   digest of the key that it is asked for with, or ''   ARGV[6]   its secret

  Answers {'created'}, or {'exists', the trip that was asked for before}.
]]
--- @include trip
local id, customer, drivers, lives = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local digest, secret = ARGV[5], ARGV[6]
local before = digest ~= '' and redis.call('GET', order_key(digest))
if before then
  return { 'exists', before }
end
-- A client whose connection breaks sends it twice by itself.
if redis.call('EXISTS', trip_key(id)) == 1 then
  return { 'exists', id }
end
redis.call('HSET', trip_key(id), 'status', 'PENDING', 'customer', customer, 'drivers', drivers,
  'lives', text(lives), 'created', text(now), 'expires', text(now + lives), 'secret', secret)
if digest ~= '' then
  redis.call('HSET', trip_key(id), 'key', digest)
  redis.call('SET', order_key(digest), id)
end
redis.call('ZADD', root .. ':due', care_at(now + lives), id)
return { 'created' }
