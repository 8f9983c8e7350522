--[[
  The record of an owner: a hash in the slot of its queues. `record.ts` has the same format for TypeScript.

    epoch        the owner's generation: a cancel moves it. It begins with the store's time in µs, so no epoch comes twice
    wanted       when a job was last enqueued for it, µs, growing
    state        `closed`; `open <ms>` after it was reopened then; else absent
    cancel       the newest cancel whose clean-up is not over; see receipts.lua
    <queue>:<id> for each job that has not ended: the epoch it was enqueued under; 0 if it was cancelled alone

  <root>~owner~<owner>    the record
  <root>~pending~<owner>  hash: digest of a deduplication key -> its pending job
  <root>~owners~<shard>   zset, all with the score 0: the owners that have a record, in the order of their names
]]
local FIELDS_OF_AN_EMPTY_RECORD = 2

-- How long it is remembered that an owner without jobs was closed or reopened.
local STATE_KEPT_MS = 30 * 24 * 3600 * 1000

-- Many small sorted sets take a fifth of the memory of one large one.
local SHARDS = 1024

local root

-- Ids mostly differ in their last characters.
local function shardOf(owner)
  local a, b, c = string.byte(owner, -3, -1)
  return root .. '~owners~' .. (a * 7 + b * 31 + c * 131 + #owner) % SHARDS
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

-- Gives each owner its present epoch. Answers the time of the entry in µs, later than any before; or nothing and the closed owner.
local function lookUp(owners, now)
  local at = now
  for _, owner in ipairs(owners) do
    local known = redis.call('HMGET', recordOf(owner.name), 'epoch', 'wanted', 'state')
    owner.epoch, owner.isNew = known[1], not known[1]
    if known[3] == 'closed' then return nil, owner.name end
    owner.mayExpire = known[3]
    if known[2] and tonumber(known[2]) >= at then at = tonumber(known[2]) + 1 end
  end
  for _, owner in ipairs(owners) do
    owner.epoch = owner.epoch or whole(at)
  end
  return at
end

local function enterAll(owners, ref, at)
  for _, owner in ipairs(owners) do
    redis.call('HSET', recordOf(owner.name), 'epoch', owner.epoch, 'wanted', whole(at), ref, owner.epoch)
    if owner.isNew then redis.call('ZADD', shardOf(owner.name), 0, owner.name) end
    if owner.mayExpire then redis.call('PERSIST', recordOf(owner.name)) end
  end
end

-- An owner without jobs is not remembered, or for a time if it was closed or reopened.
local function forgetIfEmpty(owner)
  local record = recordOf(owner)
  local further = redis.call('HLEN', record) - FIELDS_OF_AN_EMPTY_RECORD
  if further == 0 then
    redis.call('DEL', record)
    redis.call('ZREM', shardOf(owner), owner)
  elseif further == 1 and redis.call('HEXISTS', record, 'state') == 1 then
    redis.call('PEXPIRE', record, STATE_KEPT_MS)
  end
end

local function leave(owner, ref)
  if redis.call('HDEL', recordOf(owner), ref) == 1 then forgetIfEmpty(owner) end
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

-- Is the job's epoch still that of the owner?
local function isCurrent(owner, epoch, ref)
  local known = redis.call('HMGET', recordOf(owner), 'epoch', ref)
  return known[1] == epoch and known[2] == epoch
end

local function allCurrent(mark, ref)
  if not isCurrent(mark.owner, mark.epoch, ref) then return false end
  for epoch, owner in furtherOwners(mark) do
    if not isCurrent(owner, epoch, ref) then return false end
  end
  return true
end
