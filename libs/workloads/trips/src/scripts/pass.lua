#!lua flags=allow-oom
--[[
  pass: a driver's line goes on without the one who stands first: its job has ended, and will not ask again.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   the job

  Answers {'passed', the job that may go on…}, or {'moved'}: another one stands first by now.
]]
--- @include trip
local driver, job = ARGV[1], ARGV[2]
local first = redis.call('ZRANGE', line_key(driver), 0, 0)[1]
if not first or redis.call('HGET', trip_key(first), 'j' .. driver) ~= job then
  return { 'moved' }
end
redis.call('ZREM', line_key(driver), first)
redis.call('HDEL', trip_key(first), 'j' .. driver)
return { 'passed', next_in_line(driver) }
