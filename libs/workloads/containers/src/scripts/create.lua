--[[
  create: creates a lease. Its time starts now.

  It takes a place, which is freed once its container is known to be gone. It is due until its jobs are recorded, so the
  reconciler sends them if the caller dies in between.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   image   ARGV[3]   its duration, ms   ARGV[4]   the owner it ends with, or ''
    ARGV[5]   the owner's digest   ARGV[6]   limit of places
    ARGV[7]   digest of the Idempotency-Key, or ''

  Answers {'created'}, {'exists', the earlier lease}, or {'full', ms until the first deadline}.
]]
--- @include lease
local id, image, lives, owner, digest, places = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], tonumber(ARGV[6])
local order = ARGV[7]
local key = lease_key(id)
local before = order ~= '' and redis.call('GET', order_key(order))
if before then
  return { 'exists', before }
end
-- ioredis repeats a command after its connection broke.
if redis.call('EXISTS', key) == 1 then
  return { 'exists', id }
end
if redis.call('ZCARD', root .. ':until') >= places then
  local first = redis.call('ZRANGE', root .. ':until', 0, 0, 'WITHSCORES')
  return { 'full', text(math.max(0, tonumber(first[2] or now) - now)) }
end

local n = redis.call('INCR', root .. ':number')
redis.call('HSET', key, 'state', 'provisioning', 'image', image, 'lives', text(lives), 'created', text(now),
  'expires', text(now + lives), 'n', n, 'g', 0, 'fence', 0)
if order ~= '' then
  redis.call('HSET', key, 'key', order)
  redis.call('SET', order_key(order), id)
end
if owner ~= '' then
  redis.call('HSET', key, 'owner', owner, 'od', digest)
  redis.call('SADD', root .. ':of:' .. digest, id)
end
redis.call('ZADD', root .. ':until', text(now + lives), id)
redis.call('ZADD', root .. ':all', n, id)
redis.call('ZADD', root .. ':is:provisioning', n, id)
look_at(id, now + 5 * RECHECK_MS)
return { 'created' }
