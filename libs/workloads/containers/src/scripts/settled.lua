#!lua flags=allow-oom
--[[
  settled: records that the creation of a container has finished, with or without success.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   the end of its limit, as begin answered

  Answers {'ok'}, or {'overtaken'}: another container is being created.
]]
--- @include lease
local id, making = ARGV[1], ARGV[2]
local key = lease_key(id)
if redis.call('HGET', key, 'making') ~= making then
  return { 'overtaken' }
end
redis.call('HSET', key, 'making', 0)
return { 'ok' }
