--[[
  begin: somebody is about to make a lease's container. For so long one may come to be whatever is heard of it: until then its
  place is not given to another.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   how long making it may take, ms

  Answers {'make', image, the lease's number, until when, ms}; {'has', container}: it was made already; {'over', state}.
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
