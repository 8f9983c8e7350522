#!lua flags=allow-oom
--[[
  taken: the requests of a driver who went offline are taken back, unless he went once more since.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   since when, ms

  Answers {'ok'}, or {'moved'}.
]]
--- @include trip
local away, driver = root .. ':away', ARGV[1]
if redis.call('ZSCORE', away, driver) ~= ARGV[2] then
  return { 'moved' }
end
redis.call('ZREM', away, driver)
return { 'ok' }
