-- The clean-up of a cancel: a page of the owner's index at a time, jobs leave their queues and the index in one step.

local JOBS_IN_ONE_STEP = 100

-- Workers read which runs to stop in the stream <root>~cancelled. One that misses an entry learns of it when it renews its locks.
local MOST_ANNOUNCED = 1000

-- A parent that is not cancelled with its child is told that the child failed: BullMQ does so for a job that ends in the active list.
local function failInItsPlace(prefix, job, timestamp, reason)
  for _, place in ipairs({ 'delayed', 'prioritized', 'waiting-children' }) do
    redis.call('ZREM', prefix .. place, job)
  end
  redis.call('LREM', prefix .. 'wait', 1, job)
  redis.call('LPUSH', prefix .. 'active', job)
  failUnkept(prefix, job, timestamp, '0', reason or 'cancelled')
end

local function hasLivingParent(prefix, job)
  local parent = redis.call('HGET', prefix .. job, 'parentKey')
  if not parent or redis.call('EXISTS', parent) == 0 then return false end
  local mark = markOfJob(parent, '')
  return not mark or allCurrent(mark, string.sub(parent, #root + 2))
end

local function removeFromQueue(prefix, job, timestamp, reason)
  if endSchedulerWith(prefix, job) then return end
  if hasLivingParent(prefix, job) then
    failInItsPlace(prefix, job, timestamp, reason)
  else
    bull.removeJob(removeJobKeys(prefix, job), { job, '0', prefix })
  end
end

local function countTold(cancelId, ref)
  if redis.call('SADD', toldOf(ref), cancelId) == 0 then return end
  redis.call('PEXPIRE', toldOf(ref), redis.call('HGET', receiptOf(cancelId), 'keep'))
  redis.call('HINCRBY', receiptOf(cancelId), 'aborted:' .. queueOf(ref), 1)
end

local function noteRemoved(page, ref, state)
  local field = 'removed:' .. queueOf(ref) .. ':' .. state
  page.counts[field] = (page.counts[field] or 0) + 1
  table.insert(page.leaving, ref)
end

local function leaveAllOn(page, mark, ref)
  leavePending(mark, ref)
  for _, owner in ipairs(ownersOfMark(mark)) do
    if owner.name ~= page.owner then leave(owner.name, ref) end
    page.history[owner.name] = page.history[owner.name] or {}
    table.insert(page.history[owner.name], page.timestamp .. ' cancelled ' .. ref)
  end
  if needsSlots(mark) then freeSlots(mark, ref) end
end

-- A job that a worker has stays: its run is told to stop.
local function cleanJob(page, ref)
  local prefix, job = splitRef(ref)
  if isLocked(prefix, job) then
    countTold(page.cancelId, ref)
    table.insert(page.running, ref)
    return
  end
  local mark = markOfJob(prefix, job)
  noteRemoved(page, ref, mark and stateOf(prefix, job) or 'gone')
  if not mark then return end
  leaveAllOn(page, mark, ref)
  removeFromQueue(prefix, job, page.timestamp)
end

local function writePage(page)
  for field, count in pairs(page.counts) do redis.call('HINCRBY', receiptOf(page.cancelId), field, count) end
  for owner, entries in pairs(page.history) do rememberAll(owner, entries) end
  if #page.running > 0 then
    redis.pcall('XADD', root .. '~cancelled', 'MAXLEN', '~', MOST_ANNOUNCED, '*', 'runs', table.concat(page.running, '\n'))
  end
  if #page.leaving > 0 and redis.call('HDEL', recordOf(page.owner), unpack(page.leaving)) > 0 then forgetIfEmpty(page.owner) end
end

-- What these jobs have in common is written once: what leaves the owner's record, the history of each owner, and the counts. Answers how
-- many of them run.
local function cleanRefs(owner, cancelId, refs, timestamp)
  local page = { owner = owner, cancelId = cancelId, timestamp = timestamp, leaving = {}, history = {}, counts = {}, running = {} }
  for _, ref in ipairs(refs) do cleanJob(page, ref) end
  writePage(page)
  return #page.running
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
  return whole(at), cleanRefs(owner, cancelId, refs, msText(nowUs()))
end

-- One page of the index. Answers the next cursor and how many of its jobs run.
local function cleanPage(owner, cancelId, upTo, cursor)
  local page = redis.call('HSCAN', recordOf(owner), cursor, 'COUNT', JOBS_IN_ONE_STEP)
  local refs = {}
  for i = 1, #page[2], 2 do
    local isJob = string.find(page[2][i], ':', 1, true)
    if isJob and tonumber(page[2][i + 1]) <= upTo then refs[#refs + 1] = page[2][i] end
  end
  return page[1], cleanRefs(owner, cancelId, refs, msText(nowUs()))
end
