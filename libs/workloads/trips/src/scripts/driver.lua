#!lua flags=allow-oom
--[[
  driver: a driver is available, or not any more. Going offline gives up the offer and the line; a trip goes on. That his
  requests are to be taken back is noted with it, for should the caller die.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   1 or 0

  Answers {'online', the job that may go on…} or {'offline', since when, ms}.
]]
--- @include trip
local driver, available = ARGV[1], ARGV[2]
redis.call('HSET', driver_key(driver), 'available', available)
if available == '1' then
  redis.call('PERSIST', driver_key(driver))
  return { 'online', next_in_line(driver) }
end
local offer = redis.call('HGET', driver_key(driver), 'offer')
if offer then
  withdraw(driver, offer, 'offline')
end
redis.call('DEL', line_key(driver))
forget_idle(driver)
redis.call('ZADD', root .. ':away', text(now), driver)
return { 'offline', text(now) }
