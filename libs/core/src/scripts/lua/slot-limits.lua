-- The limit and the rate of a slot belong to its key: its first job sets them, and an operator changes them.

local function limitOf(slot)
  return root .. '~limit~' .. slot
end

-- A slot as a mark names it: its key and, behind a space, its rate.
local function splitSlot(text)
  local space = string.find(text, ' ', 1, true)
  if not space then return text end
  return string.sub(text, 1, space - 1), string.sub(text, space + 1)
end

-- The limit, the slot and the rate that a job names: <key>|<limit>|<slot> <rate>. Nothing without a slot.
local function slotIn(needs)
  if string.sub(needs, -1) == '|' then return nil end
  local limit, slot = string.match(needs, '^[^|]*|(%d+)|(.+)$')
  return limit, splitSlot(slot)
end

-- Limit and rate that the key has, as in `2 10/1000`, if the job names another limit or another rate.
-- @param known what they are, if not the store but this step knows
local function otherLimit(needs, known)
  local limit, slot, rate = slotIn(needs)
  if not slot then return nil end
  known = known or redis.call('MGET', limitOf(slot), rateKeyOf(slot))
  local itsRate = known[2] ~= NO_RATE and known[2]
  local isOther = known[1] and known[1] ~= limit or rate and itsRate and itsRate ~= rate
  return isOther and (known[1] or limit) .. (itsRate and ' ' .. itsRate or '') or nil
end

local function setLimit(slot, limit)
  redis.call('SET', limitOf(slot), limit, 'PX', LIMIT_KEPT_MS)
end

-- @param limit, rate those of the key, if the key has them
local function keepLimit(slot, limit, rate)
  if redis.call('PEXPIRE', limitOf(slot), LIMIT_KEPT_MS) == 0 then setLimit(slot, limit) end
  if rate and redis.call('PEXPIRE', rateKeyOf(slot), LIMIT_KEPT_MS) == 0 then rates.set(slot, rate) end
end

-- For a job that is accepted. Its limit and its rate are those of the key, if the key has them.
local function claimLimit(needs)
  local limit, slot, rate = slotIn(needs)
  if slot then keepLimit(slot, limit, rate) end
end

-- For a key whose limit is not known any more.
local MOST_HOLDERS = 10000

-- @param limit, rate for a key without them
local function namedSlot(key, limit, rate)
  local known = redis.call('MGET', limitOf(key), rateKeyOf(key))
  local text = known[2] or rate
  local rate = text and text ~= NO_RATE and rates.read(text)
  return { key = key, limit = tonumber(known[1] or limit), rate = rate, rateText = text, isNamed = true }
end

local function slotsOf(mark)
  local slots = {}
  if mark.key ~= '' then slots[1] = { key = mark.owner .. '|' .. mark.key, limit = 1 } end
  if mark.slot ~= '' then
    local key, rate = splitSlot(mark.slot)
    slots[#slots + 1] = namedSlot(key, mark.limit, rate)
  end
  return slots
end
