--[[
  Rates of slots: how many of its jobs may start in a time. A bucket has up to `max` tokens and gets one every per/max; a job takes one in
  the step in which it takes the slot.

    <root>~rate~<key>    <max>/<per, ms>: the rate belongs to the key, like its limit; `-` if an operator has taken it away
    <root>~bucket~<key>  when the bucket is full again, µs; it expires then
    <root>~due           zset: slots whose line waits for a token, by when there is one, ms
]]
-- How long the limit of a key is known after the last job of the key was added or came to a worker.
local LIMIT_KEPT_MS = 8 * 24 * 3600 * 1000

local NO_RATE = '-'

local function rateKeyOf(slot)
  return root .. '~rate~' .. slot
end

-- Few steps meet a rate: its functions are made when one does.
local rates = whenUsed(function(rates)
  function rates.bucketOf(slot)
    return root .. '~bucket~' .. slot
  end

  function rates.due()
    return root .. '~due'
  end

  function rates.read(text)
    local max, per = string.match(text, '^(%d+)/(%d+)$')
    local perUs = tonumber(per) * 1000
    return { text = text, perUs = perUs, eachUs = perUs / tonumber(max) }
  end

  -- When the bucket is full again, now at the earliest. The store's clock may have gone back: an empty bucket is the worst.
  function rates.fullAt(slot)
    local known = tonumber(redis.call('GET', rates.bucketOf(slot.key)) or '0')
    return math.max(nowUs(), math.min(known, nowUs() + slot.rate.perUs))
  end

  -- How long there is no token yet, µs; 0 if there is one.
  function rates.untilToken(slot)
    return math.max(0, rates.fullAt(slot) + slot.rate.eachUs - slot.rate.perUs - nowUs())
  end

  function rates.takeToken(slot)
    local full = rates.fullAt(slot) + slot.rate.eachUs
    if full > nowUs() + slot.rate.perUs then return false end
    full = math.floor(full)
    redis.call('SET', rates.bucketOf(slot.key), whole(full), 'PX', whole(math.max(1, math.ceil((full - nowUs()) / 1000))))
    return true
  end

  function rates.set(slot, rate)
    redis.call('SET', rateKeyOf(slot), rate, 'PX', LIMIT_KEPT_MS)
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

  -- How long a job sleeps that was put aside: the first in line is woken by its token; the others sleep until tokens for those before them have
  -- come, or longer.
  function rates.sleepMs(slot)
    return math.max(WAKE_BY_ITSELF_MS, math.ceil(redis.call('ZCARD', lineOf(slot)) * slot.rate.eachUs / 1000))
  end

  -- For a job that was put aside: another one is first in line most often, and its token is waited for already.
  function rates.wakeAhead(slot, ref)
    local isFirst = redis.call('ZRANGE', lineOf(slot), 0, 0)[1] == ref
    if isFirst or not redis.call('ZSCORE', rates.due(), slot.key) then rates.wakeNext(slot) end
  end
end)
