#!lua flags=allow-oom
--[[
  renew: a lease is wanted for longer: for so long from now, and never for less than it was. One whose time is over, or that
  was ended, is not to be had any more, whether or not anybody has come to it yet.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   for how long, ms

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
-- One whose jobs are not noted yet stays due for them.
if known[3] then
  look_at(id, expires + CARE_MS)
end
return { 'renewed', text(expires) }
