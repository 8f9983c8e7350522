-- Who holds a slot, and who is woken when it is free: see lines.lua.

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

-- Answers true if more may be woken.
local function wakeNext(slot)
  if slot.rate then return rates.wakeNext(slot) end
  for _ = 1, MOST_WOKEN_IN_ONE_STEP do
    if redis.call('ZCARD', holdersOf(slot)) >= slot.limit or not wakeOne(slot) then return false end
  end
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
