--[[
  The record of an owner: a hash in the slot of its queues.

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

-- How many jobs an owner has, below 0 without a record: its state and its cancel are no jobs.
local function countJobs(owner)
  local others = redis.call('HMGET', recordOf(owner), 'state', 'cancel')
  return redis.call('HLEN', recordOf(owner)) - FIELDS_OF_AN_EMPTY_RECORD - (others[1] and 1 or 0) - (others[2] and 1 or 0)
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
