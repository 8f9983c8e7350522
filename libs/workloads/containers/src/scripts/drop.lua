#!lua flags=allow-oom
--[[
  drop: removes a lease that was refused after its creation, unless a container may exist.

    KEYS[1]   the root of all keys
    ARGV[1]   lease

  Answers {'dropped'}, or {'kept'}: a container may exist.
]]
--- @include lease
local id = ARGV[1]
local key = lease_key(id)
local known = redis.call('HMGET', key, 'state', 'making', 'od', 'key')
if known[1] ~= 'provisioning' or known[2] then
  return { 'kept' }
end
if known[3] then
  redis.call('SREM', root .. ':of:' .. known[3], id)
end
redis.call('ZREM', root .. ':until', id)
redis.call('ZREM', root .. ':due', id)
redis.call('ZREM', root .. ':is:provisioning', id)
forget(id)
redis.call('DEL', key, order_key(known[4] or ''))
return { 'dropped' }
