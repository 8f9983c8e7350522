#!lua flags=allow-oom
--[[
  ended: nothing runs for a lease any more. First its container is out of the record and its place is free, then the lease is
  over; nobody sees the one without the other. What hangs on it is tidied up next.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   fence of the attempt

  Answers {'ended', state}, or {'overtaken'}.
]]
--- @include lease
local id, fence = ARGV[1], ARGV[2]
local key = lease_key(id)
local known = redis.call('HMGET', key, 'fence', 'how', 'od', 'state', 'key')
if known[1] ~= fence or (known[4] ~= 'ending' and known[4] ~= 'manual-cleanup') then
  return { 'overtaken' }
end
redis.call('ZREM', root .. ':until', id)
if known[3] then
  redis.call('SREM', root .. ':of:' .. known[3], id)
end
local state = known[2] == 'failed' and 'failed' or 'ended'
move(id, state)
redis.call('HDEL', key, 'hold', 'next')
redis.call('HSET', key, 'ended', text(now))
redis.call('PEXPIRE', key, LEASE_KEEP_MS)
redis.call('PEXPIRE', order_key(known[5] or ''), LEASE_KEEP_MS)
redis.call('ZADD', root .. ':over', text(now), id)
look_at(id, now + 5 * CARE_MS)
forget_old()
return { 'ended', state }
