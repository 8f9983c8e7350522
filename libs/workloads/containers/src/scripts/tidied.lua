#!lua flags=allow-oom
--[[
  tidied: records that a lease has no jobs left, if it has ended, needs manual clean-up, or does not exist.

    KEYS[1]   the root of all keys
    ARGV[1]   lease

  Answers {'ok'}, or {'kept'}: it is none of these.
]]
--- @include lease
local id = ARGV[1]
local state = redis.call('HGET', lease_key(id), 'state')
if state and state ~= 'ended' and state ~= 'failed' and state ~= 'manual-cleanup' then
  return { 'kept' }
end
redis.call('ZREM', root .. ':due', id)
return { 'ok' }
