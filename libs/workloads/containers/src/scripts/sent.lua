#!lua flags=allow-oom
--[[
  sent: records the jobs of a lease.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   the job that creates its container   ARGV[3]   the job that ends it
    ARGV[4]   the job that is removed with its owner, or ''

  Answers {'ok'}, or {'unknown'}.
]]
--- @include lease
local id, send, stop, moor = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = lease_key(id)
local known = redis.call('HMGET', key, 'state', 'expires')
if not known[1] then
  return { 'unknown' }
end
redis.call('HSET', key, 'send', send, 'end', stop, 'moor', moor)
if known[1] == 'provisioning' or known[1] == 'running' then
  look_at(id, tonumber(known[2]) + RECHECK_MS)
end
return { 'ok' }
