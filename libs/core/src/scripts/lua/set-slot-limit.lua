--[[
  set-slot-limit: the limit of a slot, whatever it was. A higher one wakes the first in line; a lower one ends nothing.

    KEYS[1]  the limit of the slot
    ARGV[1]  root   [2] the slot   [3] its limit
  Answers {the limit that it had, or '', 'more' if this is called again to wake further jobs, or 'done'}.
]]
root = ARGV[1]
local before = redis.call('GET', limitOf(ARGV[2]))
setLimit(ARGV[2], ARGV[3])
local mayWakeMore = wakeNext({ key = ARGV[2], limit = tonumber(ARGV[3]) })
return { before or '', mayWakeMore and 'more' or 'done' }
