-- The index: the jobs of an owner that have not ended are fields of its record. A job enters and leaves it in the step that adds or ends the job.

-- How long it is remembered that an owner without jobs was closed or reopened.
local STATE_KEPT_MS = 30 * 24 * 3600 * 1000

local VALUES_IN_ONE_CALL = 1000

-- What a step of many jobs writes once, at its end: new owners by their list, records to delete, and their owners by their list.
local toList, toDelete, toUnlist = {}, {}, {}

local function note(lists, epoch, ...)
  local list = listOf(epoch)
  local noted = lists[list] or {}
  lists[list] = noted
  for i = 1, select('#', ...) do noted[#noted + 1] = select(i, ...) end
end

-- for from, to in pagesOf(values) do: Lua unpacks fewer than 8,000 values at once.
local function pagesOf(values)
  local from = 1 - VALUES_IN_ONE_CALL
  return function()
    from = from + VALUES_IN_ONE_CALL
    if from <= #values then return from, math.min(from + VALUES_IN_ONE_CALL - 1, #values) end
  end
end

local function writeNoted()
  for list, entries in pairs(toList) do
    for from, to in pagesOf(entries) do redis.call('ZADD', list, unpack(entries, from, to)) end
  end
  for list, owners in pairs(toUnlist) do
    for from, to in pagesOf(owners) do redis.call('ZREM', list, unpack(owners, from, to)) end
  end
  for from, to in pagesOf(toDelete) do redis.call('DEL', unpack(toDelete, from, to)) end
  if #toDelete > 0 then readOwners = {} end
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

-- <root>~deadlines  zset: jobs that have not begun and have to start in time, by when, ms. A job that waits longer is looked at again.
local function noteDeadline(ref, startBy)
  if startBy ~= '' then redis.call('ZADD', root .. '~deadlines', startBy, ref) end
end

-- Gives a job a mark, and enters it in the index of these owners.
local function moor(prefix, job, owners, at, startBy, needs)
  setMark(prefix, job, writeMark(owners, startBy, needs))
  enterAll(owners, refOf(prefix, job), at)
  noteDeadline(refOf(prefix, job), startBy)
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

-- The name stays in the list of owners when a record expires. A record that came later may have put it in another one.
-- @param present the epoch of that record, if there is one
local function unlistExpired(owner, epoch, present)
  if not present or listOf(present) ~= listOf(epoch) then redis.call('ZREM', listOf(epoch), owner) end
end

-- Each owner that comes makes room for two whose time is over.
local function listIdle(owner, epoch, hadJobs)
  local idle, now = root .. (hadJobs and '~idle' or '~closed'), math.floor(nowUs() / 1000) * 1000
  local earlier = redis.call('ZSCORE', idle, owner)
  if earlier then unlistExpired(owner, earlier, epoch) end
  redis.call('ZADD', idle, whole(now + tonumber(string.sub(epoch, -3))), owner)
  local over = redis.call('ZRANGEBYSCORE', idle, '-inf', whole(now - STATE_KEPT_MS * 1000), 'WITHSCORES', 'LIMIT', 0, 2)
  for i = 1, #over, 2 do
    redis.call('ZREM', idle, over[i])
    unlistExpired(over[i], over[i + 1], redis.call('HGET', recordOf(over[i]), 'epoch'))
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

-- The job of this deduplication key that is pending beside this one: what begins leaves the key in the same step, and what waits to be tried
-- again stands there again. One that was cancelled with a further owner, and that the clean-up has not reached, will not begin.
local function otherPending(owner, key, ref)
  local pending = redis.call('HGET', pendingOf(owner), key)
  if not pending or pending == ref then return nil end
  local prefix, job = splitRef(pending)
  local mark = markOfJob(prefix, job)
  if mark and allCurrent(mark, pending) then return { ref = pending, prefix = prefix, job = job, mark = mark } end
end

-- The job is to begin once more: in time, and a trigger that comes before it does joins it.
local function becomePending(mark, ref)
  noteDeadline(ref, mark.startBy)
  if mark.key ~= '' then redis.call('HSETNX', pendingOf(mark.owner), mark.key, ref) end
end

local function leavePending(mark, ref)
  if mark.startBy ~= '' then redis.call('ZREM', root .. '~deadlines', ref) end
  if mark.key ~= '' and redis.call('HGET', pendingOf(mark.owner), mark.key) == ref then
    redis.call('HDEL', pendingOf(mark.owner), mark.key)
  end
end

local function leaveAll(mark, ref)
  leavePending(mark, ref)
  for _, owner in ipairs(ownersOfMark(mark)) do leave(owner.name, ref) end
end

local function leaveAllCurrent(mark, ref)
  leavePending(mark, ref)
  leaveCurrent(mark.owner, mark.epoch, ref)
  for epoch, owner in furtherOwners(mark) do
    leaveCurrent(owner, epoch, ref)
  end
end
