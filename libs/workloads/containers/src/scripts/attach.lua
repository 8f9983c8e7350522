#!lua flags=allow-oom
--[[
  attach: records the container created for a lease.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   container   ARGV[3]   its creation time by the engine's clock, ms   ARGV[4]   its engine

  Answers {'running'}, also if it was recorded before; {'over', state}: the lease has ended, or has another container.
]]
--- @include lease
local id, container, born, engine = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = lease_key(id)
local known = redis.call('HMGET', key, 'state', 'container')
if known[1] == 'running' and known[2] == container then
  return { 'running' }
end
if known[1] ~= 'provisioning' then
  return { 'over', known[1] or 'unknown' }
end
redis.call('HSET', key, 'container', container, 'born', born, 'engine', engine, 'making', 0)
move(id, 'running')
return { 'running' }
