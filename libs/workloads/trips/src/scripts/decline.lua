#!lua flags=allow-oom
--[[
  decline: a driver declines an offer and is free for the next.

    KEYS[1]   the root of all keys
    ARGV[1]   trip   ARGV[2]   driver

  Answers {'declined', the job to wake…}, or {'not-offered'}.
]]
--- @include trip
local id, driver = ARGV[1], ARGV[2]
if not withdraw(driver, id, 'declined') then
  return { 'not-offered' }
end
redis.call('HSET', trip_key(id), 'x' .. driver, 1)
return { 'declined', next_in_line(driver) }
