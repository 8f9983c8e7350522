#!lua flags=allow-oom
--[[
  driver: a driver goes online or offline. Going offline gives up the offer and the queue; an accepted trip continues. The
  same step lists the driver in `away`, so that the requests are withdrawn even if the caller dies.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   1 or 0

  Answers {'online', the job to wake…} or {'offline', now in ms}.
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
