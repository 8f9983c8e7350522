#!lua flags=allow-oom
--[[
  tended: what was to be done for a trip is done, as long as it is what it was.

  One that is PENDING is looked at again and again: somebody may have closed its owner and died; and soon after its time: its
  timeout may be lost, or late.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   the status it had

  Answers {'ok'}, or {'moved'}.
]]
--- @include trip
local id, status = ARGV[1], ARGV[2]
local trip = redis.call('HMGET', trip_key(id), 'status', 'expires')
if (trip[1] or '') ~= status then
  return { 'moved' }
end
if status == 'PENDING' then
  redis.call('HSET', trip_key(id), 'sent', 1)
  redis.call('ZADD', root .. ':due', care_at(trip[2]), id)
else
  redis.call('ZREM', root .. ':due', id)
end
return { 'ok' }
