--[[
  Slots: leave to run. A job takes its slots in the step that hands it to a worker, and the step that ends its run frees them
  and wakes the next job in line. The lock of BullMQ is the lease of a slot: a job whose worker died is fetched again as their holder.

    <root>~slot~<key>   zset: jobs that hold it, by the time they took it
    <root>~line~<key>   zset: jobs that wait for it, by the time they came
    <root>~limit~<key>  how many may hold it: the limit belongs to the key, and its first job sets it

  A deduplication key is a slot with the limit 1: one job of a key runs at a time.
]]

-- How long a waiting job sleeps if no step wakes it: the holder was taken away by another program.
local WAKE_BY_ITSELF_MS = 60000

-- How long the limit of a key is known after the last job of the key was added or came to a worker.
local LIMIT_KEPT_MS = 8 * 24 * 3600 * 1000

local MOST_WOKEN_IN_ONE_STEP = 100
local HOLDERS_LOOKED_AT = 10

local function limitOf(slot)
  return root .. '~limit~' .. slot
end

-- The limit and the slot that a job names: <key>|<limit>|<slot>. Nothing without a slot.
local function slotIn(needs)
  if string.sub(needs, -1) == '|' then return nil end
  return string.match(needs, '^[^|]*|(%d+)|(.+)$')
end

-- The limit that the key has, if the job names another one.
local function otherLimit(needs)
  local limit, slot = slotIn(needs)
  local known = slot and redis.call('GET', limitOf(slot))
  return known and known ~= limit and known or nil
end

local function setLimit(slot, limit)
  redis.call('SET', limitOf(slot), limit, 'PX', LIMIT_KEPT_MS)
end

-- @param limit that of the key, if the key has one
local function keepLimit(slot, limit)
  if redis.call('PEXPIRE', limitOf(slot), LIMIT_KEPT_MS) == 0 then setLimit(slot, limit) end
end

-- For a job that is accepted. Its limit is that of the key, if the key has one.
local function claimLimit(needs)
  local limit, slot = slotIn(needs)
  if slot then keepLimit(slot, limit) end
end

local function slotsOf(mark)
  local slots = {}
  if mark.key ~= '' then slots[1] = { key = mark.owner .. '|' .. mark.key, limit = 1 } end
  if mark.slot ~= '' then
    slots[#slots + 1] = { key = mark.slot, limit = tonumber(redis.call('GET', limitOf(mark.slot)) or mark.limit), isNamed = true }
  end
  return slots
end

local function needsSlots(mark)
  return mark.key ~= '' or mark.slot ~= ''
end

local function holdersOf(slot)
  return root .. '~slot~' .. slot.key
end

local function lineOf(slot)
  return root .. '~line~' .. slot.key
end

-- Does the job hold the slot, now at the latest?
local function takeSlot(slot, ref)
  local holders = holdersOf(slot)
  if redis.call('ZSCORE', holders, ref) then return true end
  if redis.call('ZCARD', holders) >= slot.limit then return false end
  redis.call('ZADD', holders, nowUs(), ref)
  redis.call('ZREM', lineOf(slot), ref)
  return true
end

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
    local known = redis.call('HMGET', root .. ':' .. ref, 'timestamp', 'finishedOn')
    if not known[1] or known[2] then redis.call('ZREM', holdersOf(slot), ref) end
  end
end

-- The next in line holds the slot. It stands in front of all jobs with a priority, behind those that were woken before it: while it waits,
-- the slot is unused. Answers false if none is in line.
local function wakeOne(slot)
  local ref = redis.call('ZPOPMIN', lineOf(slot))[1]
  if not ref then return false end
  local prefix, job = splitRef(ref)
  if bull.promote(keysOf('promote', prefix), { prefix, job }) == 0 then
    redis.call('ZADD', holdersOf(slot), nowUs(), ref)
    redis.call('ZADD', prefix .. 'prioritized', 'XX', redis.call('INCR', prefix .. 'pc') % 0x100000000, job)
  end
  return true
end

-- Answers true if more may be woken.
local function wakeNext(slot)
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
    redis.call('ZREM', lineOf(slot), ref)
    if redis.call('ZREM', holdersOf(slot), ref) == 1 then wakeNext(slot) end
  end
end

-- The first slot that the job cannot have now, or nothing when it holds all of them. They are taken in one order by all jobs.
local function missingSlot(mark, ref)
  for _, slot in ipairs(slotsOf(mark)) do
    if slot.isNamed then keepLimit(slot.key, slot.limit) end
    if not takeSlot(slot, ref) then
      dropLostHolders(slot)
      if not takeSlot(slot, ref) then return slot end
    end
  end
end
