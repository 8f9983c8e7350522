#!lua flags=allow-oom
--[[
  cancel: lists a cancel that ended nothing, of an owner for which nothing was ever enqueued. Of these the newest keep their
  receipts; what the others are about is forgotten, also when their event is not written yet: a store that is full refuses
  events, and would keep every receipt. Lists the owners that were closed so, or reopened, by when that was last.

    KEYS[1]   zset of the digests of cancelIds that are looked at; :<digest>, :untold, :empty and :closed beside it, in the same
              slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   digest of the cancelId, '' for none
    ARGV[3]   how many are kept; ARGV[4] for how long, ms
    ARGV[5]   digest of the owner that was closed or reopened, '' for none; ARGV[6] for how long its record is kept, ms

  Answers what is forgotten, each as it was meant: its receipt may go.
]]
local FORGOTTEN_AT_ONCE = 100

--- @include each
if #ARGV ~= 6 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, id, most, keep = clock(ARGV[1]), ARGV[2], number(ARGV[3]), number(ARGV[4])
local owner, closedKeep = ARGV[5], number(ARGV[6])
local empty, untold, closed = KEYS[1] .. ':empty', KEYS[1] .. ':untold', KEYS[1] .. ':closed'
redis.call('ZCARD', untold)
redis.call('ZCARD', closed)

if id ~= '' then
  redis.call('ZADD', empty, 'NX', now, id)
end
if owner ~= '' then
  redis.call('ZADD', closed, now, owner)
  redis.call('ZREMRANGEBYSCORE', closed, '-inf', whole(now - closedKeep))
  redis.call('PEXPIRE', closed, closedKeep)
end
redis.call('PEXPIRE', empty, keep)

local forgotten = {}
local over = math.min(FORGOTTEN_AT_ONCE, redis.call('ZCARD', empty) - most)
for _, old in ipairs(over > 0 and redis.call('ZRANGE', empty, 0, over - 1) or {}) do
  forgotten[#forgotten + 1] = redis.call('GET', KEYS[1] .. ':' .. old) or nil
  redis.call('UNLINK', KEYS[1] .. ':' .. old)
  redis.call('ZREM', empty, old)
  redis.call('ZREM', untold, old)
end
return forgotten
