--[[
  Slots: leave to run. A job takes its slots in the step that hands it to a worker, and the step that ends its run frees them
  and wakes the next job in line. The lock of BullMQ is the lease of a slot: a job whose worker died is fetched again as their holder.

    <root>~slot~<key>   zset: jobs that hold it, by the time they took it
    <root>~line~<key>   zset: jobs that wait for it, by the time they came
    <root>~limit~<key>  how many may hold it: the limit belongs to the key, and its first job sets it

  A deduplication key is a slot with the limit 1: one job of a key runs at a time.

  The first in line for a slot with a rate (rates.lua) is let in front of its queue when there is a token. It stays in line until it
  takes token and slot together: a queue that is paused meanwhile uses up neither.
]]

-- How long a waiting job sleeps if no step wakes it: the holder was taken away by another program.
local WAKE_BY_ITSELF_MS = 60000

local MOST_WOKEN_IN_ONE_STEP = 100

local function needsSlots(mark)
  return mark.key ~= '' or mark.slot ~= ''
end

local function holdersOf(slot)
  return root .. '~slot~' .. slot.key
end

local function lineOf(slot)
  return root .. '~line~' .. slot.key
end

local function isLost(ref)
  local known = redis.call('HMGET', root .. ':' .. ref, 'timestamp', 'finishedOn')
  return not known[1] or known[2]
end

-- In front of all jobs with a priority, behind those that were woken before it.
local function goInFront(prefix, job)
  redis.call('ZADD', prefix .. 'prioritized', 'XX', redis.call('INCR', prefix .. 'pc') % 0x100000000, job)
end
