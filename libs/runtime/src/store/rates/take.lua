--[[
  take: may one more request of this name come now?

  The rate is a bucket that refills evenly: as many requests as it holds may come at once, and then one after
  each interval. One key says when it is full again, so that all processes share it.

    KEYS[1]  <prefix>:rate:<name>  string: when the bucket is full, µs; it expires then

    ARGV[1]  µs after which one request is refilled
    ARGV[2]  how many requests the bucket holds

  Answers 0, or ms until the next request may come; a refused request takes nothing.
]]
local interval, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local full = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + interval

local wait = full - now - interval * count
if wait > 0 then
  return math.ceil(wait / 1000)
end

redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return 0
