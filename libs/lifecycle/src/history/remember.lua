#!lua flags=allow-oom
--[[
  history: why these jobs of a queue are no more. Bounded in number, in bytes and in age: the oldest are forgotten.

    KEYS[1]   hash of <job> -> why, as JSON; :at beside it, in the same slot: zset of the jobs by when, ms; and :bytes, how long
              all of them are together

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   how many are kept; ARGV[3] for how long, ms; ARGV[4] of how many bytes together
    then 2 for each job: the job; why, as JSON

  Answers how many are kept now.
]]
-- More than one call adds, so that whatever is too much goes.
local FORGOTTEN_AT_ONCE = 500

--- @include each
if #ARGV < 6 or #ARGV % 2 ~= 0 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, most, keep, mostBytes = clock(ARGV[1]), number(ARGV[2]), number(ARGV[3]), number(ARGV[4])
local why, at, size = KEYS[1], KEYS[1] .. ':at', KEYS[1] .. ':bytes'
redis.call('HLEN', why)
redis.call('ZCARD', at)
local bytes = number(redis.call('GET', size) or '0')
for i = 5, #ARGV, 2 do
  bytes = bytes + #ARGV[i + 1] - redis.call('HSTRLEN', why, ARGV[i])
  redis.call('HSET', why, ARGV[i], ARGV[i + 1])
  redis.call('ZADD', at, now, ARGV[i])
end

local function forget(job)
  bytes = bytes - redis.call('HSTRLEN', why, job)
  redis.call('HDEL', why, job)
  redis.call('ZREM', at, job)
end

for _, job in ipairs(redis.call('ZRANGEBYSCORE', at, '-inf', now - keep, 'LIMIT', 0, FORGOTTEN_AT_ONCE)) do
  forget(job)
end
local kept = redis.call('ZCARD', at)
for _, job in ipairs(redis.call('ZRANGE', at, 0, FORGOTTEN_AT_ONCE - 1)) do
  if kept <= most and bytes <= mostBytes then
    break
  end
  forget(job)
  kept = kept - 1
end
redis.call('SET', size, whole(math.max(0, bytes)), 'PX', keep)
redis.call('PEXPIRE', why, keep)
redis.call('PEXPIRE', at, keep)
return kept
