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
local HOLDERS_LOOKED_AT = 10

local function needsSlots(mark)
  return mark.key ~= '' or mark.slot ~= ''
end

local function holdersOf(slot)
  return root .. '~slot~' .. slot.key
end

local function lineOf(slot)
  return root .. '~line~' .. slot.key
end

-- Behind all others, or where it stands if it is there: answers 1 if it was not. The store's time stands still within a script.
local function standInLine(slot, ref)
  local last = redis.call('ZRANGE', lineOf(slot), -1, -1, 'WITHSCORES')[2]
  return redis.call('ZADD', lineOf(slot), 'NX', whole(math.max(nowUs(), (tonumber(last) or 0) + 1)), ref)
end

local function isLost(ref)
  local known = redis.call('HMGET', root .. ':' .. ref, 'timestamp', 'finishedOn')
  return not known[1] or known[2]
end

-- A slot whose holder is no longer there is free: its job was removed, or ended, by a program that knows no slots. Of many holders some
-- are looked at, others each time.
local function dropLostHolders(slot)
  local from = nowUs() % math.max(1, slot.limit - HOLDERS_LOOKED_AT + 1)
  for _, ref in ipairs(redis.call('ZRANGE', holdersOf(slot), from, from + HOLDERS_LOOKED_AT - 1)) do
    if isLost(ref) then redis.call('ZREM', holdersOf(slot), ref) end
  end
end

-- In front of all jobs with a priority, behind those that were woken before it.
local function goInFront(prefix, job)
  redis.call('ZADD', prefix .. 'prioritized', 'XX', redis.call('INCR', prefix .. 'pc') % 0x100000000, job)
end

-- The next in line holds the slot. It goes in front: while it waits, the slot is unused. Answers false if none is in line.
local function wakeOne(slot)
  local ref = redis.call('ZPOPMIN', lineOf(slot))[1]
  if not ref then return false end
  local prefix, job = splitRef(ref)
  if bull.promote(keysOf('promote', prefix), { prefix, job }) == 0 then
    redis.call('ZADD', holdersOf(slot), nowUs(), ref)
    goInFront(prefix, job)
  end
  return true
end

-- The first in line comes to the gate when there is a token. Its delay is what lets an idle worker fetch then.
function rates.wakeAtToken(slot, ref, afterUs)
  local prefix, job = splitRef(ref)
  local now, due = math.floor(nowUs() / 1000), math.ceil((nowUs() + afterUs) / 1000)
  redis.call('ZADD', rates.due(), whole(due), slot.key)
  bull.changeDelay(keysOf('changeDelay', prefix), { whole(due - now), whole(now), job, prefix .. job })
end

-- The first in line is let in front of its queue, where it may be already. Answers false for a job that another program has taken away.
function rates.letInFront(ref)
  local prefix, job = splitRef(ref)
  if bull.promote(keysOf('promote', prefix), { prefix, job }) ~= 0 and isLost(ref) then return false end
  goInFront(prefix, job)
  return true
end

-- Answers true if more may be woken.
function rates.wakeNext(slot)
  redis.call('ZREM', rates.due(), slot.key)
  for _ = 1, MOST_WOKEN_IN_ONE_STEP do
    local ref = redis.call('ZRANGE', lineOf(slot), 0, 0)[1]
    if not ref or redis.call('ZCARD', holdersOf(slot)) >= slot.limit then return false end
    local afterUs = rates.untilToken(slot)
    if afterUs > 0 then rates.wakeAtToken(slot, ref, afterUs) end
    if afterUs > 0 or rates.letInFront(ref) then return false end
    redis.call('ZREM', lineOf(slot), ref)
  end
  return true
end

-- Answers true if more may be woken.
local function wakeNext(slot)
  if slot.rate then return rates.wakeNext(slot) end
  for _ = 1, MOST_WOKEN_IN_ONE_STEP do
    if redis.call('ZCARD', holdersOf(slot)) >= slot.limit or not wakeOne(slot) then return false end
  end
  return true
end

-- Does the job hold the slot, now at the latest? With a rate it takes a token for each run.
local function takeSlot(slot, ref)
  local holders = holdersOf(slot)
  local holds = redis.call('ZSCORE', holders, ref)
  if holds and not slot.rate then return true end
  if not holds and redis.call('ZCARD', holders) >= slot.limit then return false end
  if slot.rate and not rates.takeToken(slot) then
    redis.call('ZREM', holders, ref)
    return false
  end
  redis.call('ZADD', holders, nowUs(), ref)
  local stood = redis.call('ZREM', lineOf(slot), ref) == 1
  if stood and slot.rate then wakeNext(slot) end
  return true
end

local function isInLine(mark, ref)
  for _, slot in ipairs(slotsOf(mark)) do
    if redis.call('ZSCORE', lineOf(slot), ref) then return true end
  end
  return false
end

local function freeSlots(mark, ref)
  for _, slot in ipairs(slotsOf(mark)) do
    local stood = redis.call('ZREM', lineOf(slot), ref) == 1
    local held = redis.call('ZREM', holdersOf(slot), ref) == 1
    if held or stood and slot.rate then wakeNext(slot) end
  end
end

-- The first slot that the job cannot have now, or nothing when it holds all of them. They are taken in one order by all jobs.
local function missingSlot(mark, ref)
  for _, slot in ipairs(slotsOf(mark)) do
    if slot.isNamed then keepLimit(slot.key, slot.limit, slot.rate and slot.rate.text) end
    if not takeSlot(slot, ref) then
      dropLostHolders(slot)
      if not takeSlot(slot, ref) then return slot end
    end
  end
end
