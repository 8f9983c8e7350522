#!lua flags=allow-oom
--[[
  again: somebody has seen to it that a lease's container can be removed, and wants it tried again.

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
look_at(id, now + CARE_MS)
return { 'ending' }
