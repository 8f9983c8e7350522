#!lua flags=allow-oom
--[[
  renew: extends a lease to the given time from now, and never shortens it. A lease past its deadline or closed cannot be
  renewed, even if its end has not begun.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   duration from now, ms

  Answers {'renewed', its new deadline, ms}, {'over', state}, or {'unknown'}.
]]
--- @include lease
local id, lives = ARGV[1], tonumber(ARGV[2])
local key = lease_key(id)
local known = redis.call('HMGET', key, 'state', 'expires', 'send')
local state, expires = known[1], tonumber(known[2])
if not state then
  return { 'unknown' }
end
if state ~= 'provisioning' and state ~= 'running' then
  return { 'over', state }
end
if now >= expires then
  return { 'over', 'ending' }
end
expires = math.max(expires, now + lives)
redis.call('HSET', key, 'expires', text(expires))
redis.call('HINCRBY', key, 'g', 1)
redis.call('ZADD', root .. ':until', text(expires), id)
-- A lease whose jobs are not recorded yet stays due for them.
if known[3] then
  look_at(id, expires + RECHECK_MS)
end
return { 'renewed', text(expires) }
