-- What a step that fetches does first and last, and how long jobs sleep in line for a slot with a rate.

local MOST_DUE_IN_ONE_STEP = 10

-- Slots whose next token has come. An idle worker fetches by the delay of the first in line; any other fetch comes earlier or as well.
local function wakeDue()
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', rates.due(), '-inf', msText(nowUs()), 'LIMIT', 0, MOST_DUE_IN_ONE_STEP)) do
    redis.call('ZREM', rates.due(), key)
    wakeNext(namedSlot(key, MOST_HOLDERS))
  end
end

-- How long a job sleeps that was put aside. With a rate the first in line is woken by its token; the others sleep until tokens for those
-- before them have come, or longer.
local function sleepMs(slot)
  if not slot.rate then return WAKE_BY_ITSELF_MS end
  return math.max(WAKE_BY_ITSELF_MS, math.ceil(redis.call('ZCARD', lineOf(slot)) * slot.rate.eachUs / 1000))
end

-- For a job that was put aside: another one is first in line most often, and its token is waited for already.
local function wakeAhead(slot, ref)
  local isFirst = redis.call('ZRANGE', lineOf(slot), 0, 0)[1] == ref
  if isFirst or not redis.call('ZSCORE', rates.due(), slot.key) then wakeNext(slot) end
end

-- Before the first fetch of a step. Answers what `endFetching` takes. Of queues without rates and fair turns nothing more is read.
local function beginFetching(prefix, timestamp)
  if redis.call('EXISTS', rates.due(), fair.keyOf(prefix)) == 0 then return nil end
  wakeDue()
  return redis.call('EXISTS', fair.keyOf(prefix)) == 1 and fair.due(prefix, timestamp)
end

local function endFetching(prefix, turns)
  if turns then fair.takeDue(prefix, turns) end
end
