#!lua flags=allow-oom
--[[
  tidied: nothing hangs on a lease any more that is over, is for people, or never was.

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
