-- What a step that fetches does first.

local MOST_DUE_IN_ONE_STEP = 10

-- Slots whose next token has come. An idle worker fetches by the delay of the first in line; any other fetch comes earlier or as well.
local function wakeDue()
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', rates.due(), '-inf', msText(nowUs()), 'LIMIT', 0, MOST_DUE_IN_ONE_STEP)) do
    redis.call('ZREM', rates.due(), key)
    wakeNext(namedSlot(key, MOST_HOLDERS))
  end
end

-- Before the first fetch of a step. Of queues without rates and fair turns nothing more is read. Answers the turns of the jobs whose delay is
-- over, for `fair.takeDue` at the end of the step, if its queue has fair turns.
local function beginFetching(prefix, timestamp)
  if redis.call('EXISTS', root .. '~due', turnsOf(prefix)) == 0 then return nil end
  wakeDue()
  return redis.call('EXISTS', turnsOf(prefix)) == 1 and fair.due(prefix, timestamp)
end
