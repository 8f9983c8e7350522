--[[
  create: a customer asks for a trip.

  The trip is due until its jobs are enqueued, so the reconciler enqueues them if the caller dies in between.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   customer   ARGV[3]   drivers, JSON   ARGV[4]   time to accept it, ms
    ARGV[5]   digest of the Idempotency-Key, or ''   ARGV[6]   its secret

  Answers {'created'}, or {'exists', the earlier trip}.
]]
--- @include trip
local id, customer, drivers, lives = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local digest, secret = ARGV[5], ARGV[6]
local before = digest ~= '' and redis.call('GET', order_key(digest))
if before then
  return { 'exists', before }
end
-- ioredis repeats a command after its connection broke.
if redis.call('EXISTS', trip_key(id)) == 1 then
  return { 'exists', id }
end
redis.call('HSET', trip_key(id), 'status', 'PENDING', 'customer', customer, 'drivers', drivers,
  'lives', text(lives), 'created', text(now), 'expires', text(now + lives), 'secret', secret)
if digest ~= '' then
  redis.call('HSET', trip_key(id), 'key', digest)
  redis.call('SET', order_key(digest), id)
end
redis.call('ZADD', root .. ':due', recheck_at(now + lives), id)
return { 'created' }
