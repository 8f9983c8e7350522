#!lua flags=allow-oom
--[[
  settled: nothing is on its way any more of what somebody began to make, whatever became of it.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   until when it might have been, as begin answered

  Answers {'ok'}, or {'overtaken'}: another one is being made.
]]
--- @include lease
local id, making = ARGV[1], ARGV[2]
local key = lease_key(id)
if redis.call('HGET', key, 'making') ~= making then
  return { 'overtaken' }
end
redis.call('HSET', key, 'making', 0)
return { 'ok' }
