-- A job that a worker has just got takes its slots, or stands in line for the first that it cannot have.

local HOLDERS_LOOKED_AT = 10

-- Behind all others, or where it stands if it is there: answers 1 if it was not. The store's time stands still within a script.
local function standInLine(slot, ref)
  local last = redis.call('ZRANGE', lineOf(slot), -1, -1, 'WITHSCORES')[2]
  return redis.call('ZADD', lineOf(slot), 'NX', whole(math.max(nowUs(), (tonumber(last) or 0) + 1)), ref)
end

-- A slot whose holder is no longer there is free: its job was removed, or ended, by a program that knows no slots. Of many holders some
-- are looked at, others each time.
local function dropLostHolders(slot)
  local from = nowUs() % math.max(1, slot.limit - HOLDERS_LOOKED_AT + 1)
  for _, ref in ipairs(redis.call('ZRANGE', holdersOf(slot), from, from + HOLDERS_LOOKED_AT - 1)) do
    if isLost(ref) then redis.call('ZREM', holdersOf(slot), ref) end
  end
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

-- The first slot that the job cannot have now, or nothing when it holds all of them. They are taken in one order by all jobs.
local function missingSlot(mark, ref)
  for _, slot in ipairs(slotsOf(mark)) do
    if slot.isNamed then keepLimit(slot.key, slot.limit, slot.rateText) end
    if not takeSlot(slot, ref) then
      dropLostHolders(slot)
      if not takeSlot(slot, ref) then return slot end
    end
  end
end
