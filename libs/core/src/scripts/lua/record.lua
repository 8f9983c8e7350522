--[[
  The record of an owner: a hash in the slot of its queues. `record.ts` has the same format for TypeScript.

    epoch        the owner's generation: the store's time in µs, so no epoch comes twice. A cancel moves it; what a cancel made begins with a 0
    wanted       when a job was last enqueued for it, µs, growing
    state        `closed`; `open <ms>` after it was reopened then; else absent
    cancel       the newest cancel whose clean-up is not over; see receipts.lua
    <queue>:<id> for each job that has not ended: the epoch it was enqueued under; 0 if it was cancelled alone

  <root>~owner~<owner>    the record
  <root>~pending~<owner>  hash: digest of a deduplication key -> its pending job
  <root>~owners~<digits>  zset, all with the score 0: the owners that have a record and whose epoch ends in these three digits, in the order
                          of their names. Many small sets take a fifth of the memory of a large one, and new owners of one step stand in one.
  <root>~closed           zset: owners that never had a job, by when they were closed or reopened last, µs; the last three digits are those of
                          their epoch. Their number is bounded: see empty-cancels.lua
  <root>~idle             zset: the same of owners without a job that had one
]]
local FIELDS_OF_AN_EMPTY_RECORD = 2
local ZERO = string.byte('0')

-- How long it is remembered that an owner without jobs was closed or reopened.
local STATE_KEPT_MS = 30 * 24 * 3600 * 1000

local root

local function listOf(epoch)
  return root .. '~owners~' .. string.sub(epoch, -3)
end

local function recordOf(owner)
  return root .. '~owner~' .. owner
end

local function pendingOf(owner)
  return root .. '~pending~' .. owner
end

-- bull:audio: and 7 -> audio:7
local function refOf(prefix, job)
  return string.sub(prefix, #root + 2) .. job
end

-- audio:7 -> bull:audio: and 7
local function splitRef(ref)
  local queue, job = string.match(ref, '^([^:]*:)(.*)$')
  return root .. ':' .. queue, job
end

-- What this step has read of the owners of new jobs, by their names: epoch, wanted, state.
local readOwners = {}

local function readOwner(name)
  local known = readOwners[name]
  if not known then
    known = redis.call('HMGET', recordOf(name), 'epoch', 'wanted', 'state')
    readOwners[name] = known
  end
  return known
end

-- Gives each owner its present epoch. Answers the time of the entry in µs, later than any before; or nothing and the closed owner.
local function lookUp(owners, now)
  local at = now
  for _, owner in ipairs(owners) do
    local known = readOwner(owner.name)
    owner.epoch, owner.isNew = known[1], not known[1]
    if known[3] == 'closed' then return nil, owner.name end
    owner.mayExpire = known[3]
    if known[2] and tonumber(known[2]) >= at then at = tonumber(known[2]) + 1 end
  end
  for _, owner in ipairs(owners) do
    if owner.isNew then
      local known = readOwner(owner.name)
      known.firstEpoch = known.firstEpoch or whole(at)
      owner.epoch = known.firstEpoch
    end
  end
  return at
end

-- What a step of many jobs writes once, at its end: new owners by their list, records to delete, and their owners by their list.
local toList, toDelete, toUnlist = {}, {}, {}

local function note(lists, epoch, ...)
  local list = listOf(epoch)
  local noted = lists[list] or {}
  lists[list] = noted
  for i = 1, select('#', ...) do noted[#noted + 1] = select(i, ...) end
end

local function writeNoted()
  for list, entries in pairs(toList) do redis.call('ZADD', list, unpack(entries)) end
  for list, owners in pairs(toUnlist) do redis.call('ZREM', list, unpack(owners)) end
  if #toDelete > 0 then
    redis.call('DEL', unpack(toDelete))
    readOwners = {}
  end
  toList, toDelete, toUnlist = {}, {}, {}
end

-- The new owners are listed by writeNoted.
local function enterAll(owners, ref, at)
  for _, owner in ipairs(owners) do
    local record = recordOf(owner.name)
    if owner.isNew then
      redis.call('HSET', record, 'epoch', owner.epoch, 'wanted', whole(at), ref, owner.epoch)
      note(toList, owner.epoch, '0', owner.name)
      readOwners[owner.name][1] = owner.epoch
    else
      redis.call('HSET', record, 'wanted', whole(at), ref, owner.epoch)
    end
    if owner.mayExpire then
      redis.call('PERSIST', record)
      redis.call('ZREM', root .. '~closed', owner.name)
    end
  end
end

local function receiptOf(cancelId)
  return root .. '~receipt~' .. cancelId
end

-- Nothing is left of what a cancel ended.
local function closeReceipt(owner, cancelId)
  redis.call('ZREM', root .. '~cancels', cancelId)
  if redis.call('EXISTS', receiptOf(cancelId)) == 1 then redis.call('HSET', receiptOf(cancelId), 'done', '1') end
  if redis.call('HGET', recordOf(owner), 'cancel') == cancelId then redis.call('HDEL', recordOf(owner), 'cancel') end
end

-- @param epoch its last one, or any number with the same last three digits
local function forgetOwner(owner, epoch)
  redis.call('DEL', recordOf(owner))
  redis.call('ZREM', listOf(epoch), owner)
  readOwners[owner] = nil
end

-- A record expires by itself, but not its name in the list of owners: each owner that comes makes room for two whose time is over.
local function listIdle(owner, epoch, hadJobs)
  local idle, now = root .. (hadJobs and '~idle' or '~closed'), math.floor(nowUs() / 1000) * 1000
  redis.call('ZADD', idle, whole(now + tonumber(string.sub(epoch, -3))), owner)
  local over = redis.call('ZRANGEBYSCORE', idle, '-inf', whole(now - STATE_KEPT_MS * 1000), 'WITHSCORES', 'LIMIT', 0, 2)
  for i = 1, #over, 2 do
    redis.call('ZREM', idle, over[i])
    if redis.call('EXISTS', recordOf(over[i])) == 0 then redis.call('ZREM', listOf(over[i + 1]), over[i]) end
  end
end

-- An owner without jobs is not remembered, or for a time if it was closed or reopened. Its cancel is over.
-- @param further how many fields its record has beside those of an empty one
local function forgetWithoutJobs(owner, further)
  if further > 2 then return end
  local record = recordOf(owner)
  local known = redis.call('HMGET', record, 'epoch', 'wanted', 'state', 'cancel')
  if further > (known[3] and 1 or 0) + (known[4] and 1 or 0) then return end
  if known[4] then closeReceipt(owner, known[4]) end
  if not known[3] then return forgetOwner(owner, known[1]) end
  redis.call('PEXPIRE', record, STATE_KEPT_MS)
  listIdle(owner, known[1], known[2] ~= '0')
end

local function forgetIfEmpty(owner)
  local further = redis.call('HLEN', recordOf(owner)) - FIELDS_OF_AN_EMPTY_RECORD
  if further >= 0 then forgetWithoutJobs(owner, further) end
end

-- How many jobs an owner with a record has: its state and its cancel are no jobs.
local function countJobs(owner)
  local others = redis.call('HMGET', recordOf(owner), 'state', 'cancel')
  return redis.call('HLEN', recordOf(owner)) - FIELDS_OF_AN_EMPTY_RECORD - (others[1] and 1 or 0) - (others[2] and 1 or 0)
end

local function leave(owner, ref)
  if redis.call('HDEL', recordOf(owner), ref) == 1 then forgetIfEmpty(owner) end
end

-- The same for a job that is known to stand in the record under this epoch. A record of no other is deleted by writeNoted.
local function leaveCurrent(owner, epoch, ref)
  local record = recordOf(owner)
  local further = redis.call('HLEN', record) - FIELDS_OF_AN_EMPTY_RECORD - 1
  if further == 0 then
    toDelete[#toDelete + 1] = record
    note(toUnlist, epoch, owner)
    return
  end
  redis.call('HDEL', record, ref)
  forgetWithoutJobs(owner, further)
end

local function leavePending(mark, ref)
  if mark.key ~= '' and redis.call('HGET', pendingOf(mark.owner), mark.key) == ref then
    redis.call('HDEL', pendingOf(mark.owner), mark.key)
  end
end

local function leaveAll(mark, ref)
  leavePending(mark, ref)
  leave(mark.owner, ref)
  for _, owner in furtherOwners(mark) do
    leave(owner, ref)
  end
end

local function leaveAllCurrent(mark, ref)
  leavePending(mark, ref)
  leaveCurrent(mark.owner, mark.epoch, ref)
  for epoch, owner in furtherOwners(mark) do
    leaveCurrent(owner, epoch, ref)
  end
end

-- Is the job's epoch still that of the owner? A length costs a quarter of the text: epochs before and after the first cancel differ in
-- theirs, and what is there of a job that was cancelled alone, or is not there, is shorter.
local function isCurrent(owner, epoch, ref)
  local record = recordOf(owner)
  if redis.call('HSTRLEN', record, ref) ~= #epoch or redis.call('HSTRLEN', record, 'epoch') ~= #epoch then return false end
  local isBeforeAnyCancel = string.byte(epoch) ~= ZERO
  if isBeforeAnyCancel then return true end
  local known = redis.call('HMGET', record, 'epoch', ref)
  return known[1] == epoch and known[2] == epoch
end

local function allCurrent(mark, ref)
  if not isCurrent(mark.owner, mark.epoch, ref) then return false end
  for epoch, owner in furtherOwners(mark) do
    if not isCurrent(owner, epoch, ref) then return false end
  end
  return true
end
