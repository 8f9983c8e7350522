#!lua flags=allow-oom
--[[
  pass: removes the first request of a driver's queue, whose job has ended.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   the job

  Answers {'passed', the job to wake…}, or {'moved'}: another request is first by now.
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
