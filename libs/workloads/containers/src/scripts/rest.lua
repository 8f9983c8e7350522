#!lua flags=allow-oom
--[[
  rest: postpones an attempt at a lease's end without counting it as failed.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   fence of the attempt   ARGV[3]   pause, ms

  Answers {'ok'}, or {'overtaken'}.
]]
--- @include lease
local id, fence, pause = ARGV[1], ARGV[2], tonumber(ARGV[3])
local key = lease_key(id)
local known = redis.call('HMGET', key, 'fence', 'state')
if known[1] ~= fence or (known[2] ~= 'ending' and known[2] ~= 'manual-cleanup') then
  return { 'overtaken' }
end
redis.call('HSET', key, 'next', text(now + pause))
redis.call('HDEL', key, 'hold')
if known[2] == 'ending' then
  look_at(id, now + pause + RECHECK_MS)
end
return { 'ok' }
