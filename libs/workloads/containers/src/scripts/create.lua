--[[
  create: a lease is asked for. Its time counts from here.

  It takes a place, which it gives back when its container is known to be gone. It is due for care until its jobs are noted:
  whoever dies in between, they are sent then.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   image   ARGV[3]   how long it lives, ms   ARGV[4]   the owner that takes it down, or ''
    ARGV[5]   the owner's digest   ARGV[6]   how many places there are
    ARGV[7]   digest of the key that it is asked for with, or ''

  Answers {'created'}, {'exists', the lease that was asked for before}, or {'full', ms until the first of them is over}.
]]
--- @include lease
local id, image, lives, owner, digest, places = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], tonumber(ARGV[6])
local order = ARGV[7]
local key = lease_key(id)
local before = order ~= '' and redis.call('GET', order_key(order))
if before then
  return { 'exists', before }
end
-- A client whose connection breaks sends it twice by itself.
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
look_at(id, now + 5 * CARE_MS)
return { 'created' }
