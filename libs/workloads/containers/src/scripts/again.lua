#!lua flags=allow-oom
--[[
  again: restarts the attempts at a lease in manual clean-up, at an operator's request.

    KEYS[1]   the root of all keys
    ARGV[1]   lease

  Answers {'ending'}, {'refused', state}, or {'unknown'}.
]]
--- @include lease
local id = ARGV[1]
local key = lease_key(id)
local state = redis.call('HGET', key, 'state')
if not state then
  return { 'unknown' }
end
if state ~= 'manual-cleanup' then
  return { 'refused', state }
end
move(id, 'ending')
redis.call('HSET', key, 'tries', 0, 'next', text(now))
look_at(id, now + RECHECK_MS)
return { 'ending' }
