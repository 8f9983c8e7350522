--[[
  begin: records that a process is about to create a lease's container. Until the time limit a container may appear whatever
  the process reports, so the lease keeps its place for that long.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   time limit of the creation, ms

  Answers {'make', image, the lease's number, end of the limit, ms}; {'has', container}: it exists already; {'over', state}.
]]
--- @include lease
local id, limit = ARGV[1], tonumber(ARGV[2])
local key = lease_key(id)
local known = redis.call('HMGET', key, 'state', 'image', 'container', 'expires', 'n')
if known[1] == 'running' then
  return { 'has', known[3] }
end
if known[1] ~= 'provisioning' or now >= tonumber(known[4]) then
  return { 'over', known[1] or 'unknown' }
end
local making = text(now + limit)
redis.call('HSET', key, 'making', making)
return { 'make', known[2], known[5], making }
