-- A trigger whose deduplication key has a pending job: that job covers it, takes its data, or makes room for it.

local function delayAgain(request, pending)
  if not redis.call('ZSCORE', pending.prefix .. 'delayed', pending.job) or isInLine(pending.mark, pending.ref) then return end
  local at = math.floor(request.at / 1000)
  local due = at + tonumber(request.template.options['delay'] or 0)
  if request.template.longestWait ~= '' then
    local first = tonumber(redis.call('HGET', pending.prefix .. pending.job, 'timestamp'))
    due = math.min(due, first + tonumber(request.template.longestWait))
  end
  bull.changeDelay(keysOf('changeDelay', pending.prefix), { math.max(0, due - at), at, pending.job, pending.prefix .. pending.job })
end

-- The pending job has the needs of the newest trigger. It leaves the line for a slot that it may not need any more, and comes to the gate
-- again.
local function changeMark(request, pending)
  if request.needs ~= needsOf(pending.mark) then
    local stood = isInLine(pending.mark, pending.ref)
    freeSlots(pending.mark, pending.ref)
    if stood then bull.promote(keysOf('promote', pending.prefix), { pending.prefix, pending.job }) end
  end
  claimLimit(request.needs)
  local mark = markOf(request)
  setMark(pending.prefix, pending.job, mark)
  pending.mark = readMark(mark)
  noteDeadline(pending.ref, pending.mark.startBy)
end

local function coalesce(request, pending)
  redis.call('HSET', pending.prefix .. pending.job, 'data', request.data)
  changeMark(request, pending)
  delayAgain(request, pending)
  return { 'coalesced', pending.job }
end

-- A trigger that a pending job covers extends the time in which that job may start.
local function skip(request, pending)
  if pending.mark.startBy ~= '' then changeMark(request, pending) end
  return { 'skipped', pending.job }
end

local function removePending(pending)
  noteGone(pending.ref, ownersOfMark(pending.mark), describe(pending.prefix, pending.job), 'replaced', 'waiting')
  writeGone()
  leaveAll(pending.mark, pending.ref)
  freeSlots(pending.mark, pending.ref)
  bull.removeJob(removeJobKeys(pending.prefix, pending.job), { pending.job, '0', pending.prefix })
end

local function joinPending(request)
  redis.call('HSET', recordOf(request.owners[1].name), 'wanted', whole(request.at))
  local join = request.template.strategy == 'coalesce' and coalesce or skip
  local answer = join(request, request.pending)
  logEvent(request.pending.prefix, answer[2], 'deduplicated', answer[1])
  return answer
end
