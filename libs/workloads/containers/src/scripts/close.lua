#!lua flags=allow-oom
--[[
  close: ends a lease before its deadline.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   one of deleted, cancelled, owner, failed, container-gone   ARGV[3]   reason
    ARGV[4]   1: the engine reported that no container is being created

  Answers {'closed', the job that creates its container, the job that ends it}, either may be ''; {'again', the same}: it is
  ending already; {'kept'}: the failure is ignored because the container exists; {'over', state}; {'unknown'}.
]]
--- @include lease
local id, how, why, isMade = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local key = lease_key(id)
local known = redis.call('HMGET', key, 'state', 'send', 'end')
local state, send, stop = known[1], known[2] or '', known[3] or ''
if not state then
  return { 'unknown' }
end
if state == 'ended' or state == 'failed' then
  return { 'over', state }
end
-- A failed attempt, or one that got no answer, may overlap another that succeeded.
if how == 'failed' and state == 'running' then
  return { 'kept' }
end
if isMade and redis.call('HEXISTS', key, 'making') == 1 then
  redis.call('HSET', key, 'making', 0)
end
if state ~= 'provisioning' and state ~= 'running' then
  return { 'again', send, stop }
end
close(id, how, why)
return { 'closed', send, stop }
