#!lua flags=allow-oom
--[[
  mark-checked: the work due for a trip is done, provided its status is unchanged.

  A PENDING trip stays due: another process may close its owner and die, and its timeout job may be lost or late.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   the status that the caller saw

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
  redis.call('ZADD', root .. ':due', recheck_at(trip[2]), id)
else
  redis.call('ZREM', root .. ':due', id)
end
return { 'ok' }
