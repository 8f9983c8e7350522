-- The clean-up of a cancel: a page of the owner's index at a time, jobs leave their queues and the index in one step.

local JOBS_IN_ONE_STEP = 100

-- Workers read which runs to stop in the stream <root>~cancelled. One that misses an entry learns of it when it renews its locks.
local MOST_ANNOUNCED = 1000

-- A parent that is not cancelled with its child is told that the child failed: BullMQ does so for a job that ends in the active list.
-- This, as the other ways to remove a job, answers whether it was delayed.
local function failInItsPlace(prefix, job, timestamp, reason)
  local wasDelayed = redis.call('ZREM', prefix .. 'delayed', job) == 1
  for _, place in ipairs({ 'prioritized', 'waiting-children' }) do
    redis.call('ZREM', prefix .. place, job)
  end
  redis.call('LREM', prefix .. 'wait', 1, job)
  redis.call('LPUSH', prefix .. 'active', job)
  failUnkept(prefix, job, timestamp, '0', reason)
  return wasDelayed
end

local function isLivingParent(parent)
  if redis.call('EXISTS', parent) == 0 then return false end
  local mark = markOfJob(parent, '')
  return not mark or allCurrent(mark, string.sub(parent, #root + 2))
end

local function removeFromQueue(prefix, job, scheduler, parent, timestamp, reason)
  if scheduler and endSchedulerWith(prefix, job) then return true end
  if parent and isLivingParent(parent) then return failInItsPlace(prefix, job, timestamp, reason) end
  bull.removeJob(removeJobKeys(prefix, job), { job, '0', prefix })
  return removedFrom == 'delayed'
end

local PARTS_OF_A_JOB = { '', ':logs', ':dependencies', ':processed', ':failed', ':unsuccessful' }
local maxEvents = {}

-- What BullMQ's text does for a job that has no scheduler, parent or deduplication of BullMQ's. Its keys are deleted with those of its page.
-- Answers whether it was delayed, or nothing if it is not in the set in which the job before it was.
local function removeOnPage(page, prefix, job)
  if not leaveSameSet(prefix, job) then return nil end
  local keys, key = page.keys, prefix .. job
  for i = 1, #PARTS_OF_A_JOB do keys[#keys + 1] = key .. PARTS_OF_A_JOB[i] end
  maxEvents[prefix] = maxEvents[prefix] or redis.call('HGET', prefix .. 'meta', 'opts.maxLenEvents') or 10000
  redis.call('XADD', prefix .. 'events', 'MAXLEN', '~', maxEvents[prefix], '*', 'event', 'removed', 'jobId', job, 'prev', removedFrom)
  return removedFrom == 'delayed'
end

local function countTold(cancelId, ref)
  if redis.call('SADD', toldOf(ref), cancelId) == 0 then return end
  redis.call('PEXPIRE', toldOf(ref), redis.call('HGET', receiptOf(cancelId), 'keep'))
  redis.call('HINCRBY', receiptOf(cancelId), 'aborted:' .. queueOf(ref), 1)
end

-- A run that this cancel has told, and whose worker has died since, is counted already.
local function noteRemoved(page, prefix, ref, state)
  table.insert(page.leaving, ref)
  if state == 'running' then return end
  local counts = page.counts[state]
  counts[prefix] = (counts[prefix] or 0) + 1
end

local function leaveOn(page, owner, ref)
  if owner ~= page.owner then leave(owner, ref) end
  local entries = page.history[owner] or {}
  page.history[owner] = entries
  entries[#entries + 1] = page.timestamp .. ' cancelled ' .. ref
end

local function leaveAllOn(page, mark, ref)
  leavePending(mark, ref)
  leaveOn(page, mark.owner, ref)
  for _, owner in furtherOwners(mark) do leaveOn(page, owner, ref) end
  if needsSlots(mark) then freeSlots(mark, ref) end
end

-- A job that a worker has stays: its run is told to stop. One that was never handed to a worker has no lock.
local function cleanJob(page, ref)
  local prefix, job = splitRef(ref)
  local fields = redis.call('HMGET', prefix .. job, 'opts', 'processedOn', 'atm', 'rjk', 'parentKey', 'deid', unpack(page.described))
  local options, begunAt, tries, scheduler, parent, deduplication, name, timestamp = unpack(fields)
  if begunAt and isLocked(prefix, job) then
    countTold(page.cancelId, ref)
    return table.insert(page.running, ref)
  end
  local mark = options and markIn(options)
  if not mark then return noteRemoved(page, prefix, ref, 'gone') end
  leaveAllOn(page, mark, ref)
  local wasDelayed
  if not (scheduler or parent or deduplication) then wasDelayed = removeOnPage(page, prefix, job) end
  if wasDelayed == nil then wasDelayed = removeFromQueue(prefix, job, scheduler, parent, page.timestamp, 'cancelled') end
  local wasTold = begunAt and redis.call('SISMEMBER', toldOf(ref), page.cancelId) == 1
  local state = wasTold and 'running' or not wasDelayed and 'waiting' or tries and 'retrying' or 'delayed'
  noteRemoved(page, prefix, ref, state)
  if remembersJobs() then noteGone(ref, ownersOfMark(mark), { name, timestamp, begunAt, tries }, 'cancelled', state, page.cancelId) end
end

local function writeCounts(page)
  for state, counts in pairs(page.counts) do
    for prefix, count in pairs(counts) do
      redis.call('HINCRBY', receiptOf(page.cancelId), 'removed:' .. queueOf(refOf(prefix, '')) .. ':' .. state, count)
    end
  end
end

local function writePage(page)
  writeCounts(page)
  if schedulersEnded > 0 then redis.call('HINCRBY', receiptOf(page.cancelId), 'schedules', schedulersEnded) end
  for owner, entries in pairs(page.history) do rememberAll(owner, entries) end
  writeGone()
  if #page.keys > 0 then redis.call('DEL', unpack(page.keys)) end
  if #page.running > 0 then
    redis.pcall('XADD', root .. '~cancelled', 'MAXLEN', '~', MOST_ANNOUNCED, '*', 'runs', table.concat(page.running, '\n'))
  end
  if #page.leaving > 0 and redis.call('HDEL', recordOf(page.owner), unpack(page.leaving)) > 0 then forgetIfEmpty(page.owner) end
end

-- What these jobs have in common is written once: what leaves the owner's record, the history of each owner, and the counts. Answers how
-- many of them run, and whether these are all: a page of the index may have more jobs than a step removes.
local function cleanRefs(owner, cancelId, refs, timestamp)
  local page = { owner = owner, cancelId = cancelId, timestamp = timestamp, leaving = {}, keys = {}, history = {}, running = {},
    counts = { waiting = {}, delayed = {}, retrying = {}, gone = {} }, described = remembersJobs() and { 'name', 'timestamp' } or {} }
  local at = 0
  while at < #refs and #page.leaving < JOBS_IN_ONE_STEP do
    at = at + 1
    cleanJob(page, refs[at])
  end
  writePage(page)
  return #page.running, at == #refs
end

-- One page of the jobs that were cancelled alone. The cursor is the place in their text. Answers the next cursor and how many of them run.
local function cleanNamed(owner, cancelId, jobs, cursor)
  local refs, at = {}, tonumber(cursor)
  for _ = 1, JOBS_IN_ONE_STEP do
    local ref, following = string.match(jobs, '([^\n]+)()', at + 1)
    at = following or 0
    if not ref then break end
    if redis.call('HGET', recordOf(owner), ref) == '0' then refs[#refs + 1] = ref end
  end
  return whole(at), (cleanRefs(owner, cancelId, refs, msText(nowUs())))
end

-- One page of the index. Answers the next cursor, or `rest` if this page has to be read again, and how many of its jobs run.
local function cleanPage(owner, cancelId, upTo, cursor)
  local page = redis.call('HSCAN', recordOf(owner), cursor, 'COUNT', JOBS_IN_ONE_STEP)
  local refs = {}
  for i = 1, #page[2], 2 do
    local isJob = string.find(page[2][i], ':', 1, true)
    if isJob and tonumber(page[2][i + 1]) <= upTo then refs[#refs + 1] = page[2][i] end
  end
  local running, isWhole = cleanRefs(owner, cancelId, refs, msText(nowUs()))
  return isWhole and page[1] or 'rest', running
end
