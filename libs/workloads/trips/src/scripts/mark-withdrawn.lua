#!lua flags=allow-oom
--[[
  mark-withdrawn: the requests of an offline driver are withdrawn, unless the driver went offline again since.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   when they went offline, ms

  Answers {'ok'}, or {'moved'}.
]]
--- @include trip
local away, driver = root .. ':away', ARGV[1]
if redis.call('ZSCORE', away, driver) ~= ARGV[2] then
  return { 'moved' }
end
redis.call('ZREM', away, driver)
return { 'ok' }
