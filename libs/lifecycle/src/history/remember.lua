#!lua flags=allow-oom
--[[
  history: why these jobs of a queue are no more. Bounded in number and in age: the oldest are forgotten.

    KEYS[1]   hash of <job> -> why, as JSON; :at beside it, in the same slot: zset of the jobs by when, ms

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   how many are kept; ARGV[3] for how long, ms
    then 2 for each job: the job; why, as JSON

  Answers how many are kept now.
]]
-- More than one call adds, so that whatever is too much goes.
local FORGOTTEN_AT_ONCE = 500

--- @include each
if #ARGV < 5 or #ARGV % 2 ~= 1 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, most, keep = clock(ARGV[1]), number(ARGV[2]), number(ARGV[3])
local why, at = KEYS[1], KEYS[1] .. ':at'
redis.call('HLEN', why)
redis.call('ZCARD', at)
for i = 4, #ARGV, 2 do
  redis.call('HSET', why, ARGV[i], ARGV[i + 1])
  redis.call('ZADD', at, now, ARGV[i])
end
local over = math.min(FORGOTTEN_AT_ONCE, math.max(0, redis.call('ZCARD', at) - most))
local old = over > 0 and redis.call('ZRANGE', at, 0, over - 1) or {}
for _, job in ipairs(redis.call('ZRANGEBYSCORE', at, '-inf', now - keep, 'LIMIT', 0, FORGOTTEN_AT_ONCE)) do
  old[#old + 1] = job
end
for _, job in ipairs(old) do
  redis.call('HDEL', why, job)
  redis.call('ZREM', at, job)
end
redis.call('PEXPIRE', why, keep)
redis.call('PEXPIRE', at, keep)
return redis.call('ZCARD', at)
