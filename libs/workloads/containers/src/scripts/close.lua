#!lua flags=allow-oom
--[[
  close: a lease ends before its time.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   how: deleted, cancelled, owner, failed, container-gone   ARGV[3]   why, in words
    ARGV[4]   1: the engine has said that nothing is being made for it

  Answers {'closed', the job that makes its container, the one that ends it}, either of them ''; {'again', likewise}: it is
  ending already; {'kept'}: it was to fail, and has its container; {'over', state}; {'unknown'}.
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
-- Whoever could not make it, or did not hear that he had, was not the only one at it.
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
