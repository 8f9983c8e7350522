--[[
  set-slot-limit: the limit and the rate of a slot, whatever they were. Higher ones wake the first in line; lower ones end nothing.

    KEYS[1]  the limit of the slot
    ARGV[1]  root   [2] the slot   [3] its limit, or '' for that which it has   [4] its rate, '-' for none, or '' for that which it has
  Answers {the limit that it had, or '', 'more' if this is called again to wake further jobs, or 'done'}.
]]
root = ARGV[1]
local key, limit, rate = ARGV[2], ARGV[3], ARGV[4]
local before = redis.call('GET', limitOf(key))
if limit ~= '' then setLimit(key, limit) end
if rate ~= '' then rates.set(key, rate) end
if rate == NO_RATE then
  redis.call('DEL', rates.bucketOf(key))
  redis.call('ZREM', rates.due(), key)
end
local mayWakeMore = wakeNext(namedSlot(key, MOST_HOLDERS))
return { before or '', mayWakeMore and 'more' or 'done' }
