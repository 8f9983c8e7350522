--[[
  Rates of slots: how many of its jobs may start in a time. A bucket has up to `max` tokens and gets one every per/max; a job takes one in
  the step in which it takes the slot.

    <root>~rate~<key>    <max>/<per, ms>: the rate belongs to the key, like its limit
    <root>~bucket~<key>  when the bucket is full again, µs; it expires then
    <root>~due           zset: slots whose line waits for a token, by when there is one, ms
]]
-- One local for all of them: a script may have 200.
local rates = {}

function rates.keyOf(slot)
  return root .. '~rate~' .. slot
end

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
