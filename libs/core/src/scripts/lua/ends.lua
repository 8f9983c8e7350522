-- How a run ends when its owner was cancelled: by BullMQ's own script, as a failure that is not kept.

-- Ends a job that is active, and tells its parent that it failed. BullMQ checks that the token holds the lock.
-- @param state `running` if its run had begun, by default `active`   @param why further words for the history
local function failUnkept(prefix, job, timestamp, token, reason, state, why)
  local known = describe(prefix, job)
  local mark = known and markOfJob(prefix, job)
  local answer = bull.moveToFinished(moveToFinishedKeys(prefix, job, 'failed'), { job, timestamp, 'failedReason', reason, 'failed', '0', prefix,
    { token = token, keepJobs = { count = 0 }, attempts = 0, maxMetricsSize = '' }, '' })
  if isError(answer) then return answer end
  noteGone(refOf(prefix, job), mark and ownersOfMark(mark) or {}, known, reason, state or 'active', nil, why)
  writeGone()
  return answer
end

local function forget(mark, ref, reason)
  leaveAll(mark, ref)
  freeSlots(mark, ref)
  remember(ownersOfMark(mark), ref, reason)
end

local function endCancelled(prefix, job, timestamp, token, mark, ref, result)
  local answer = failUnkept(prefix, job, timestamp, token, 'cancelled', 'running')
  if isError(answer) then return answer end
  countEndOfRun(mark, ref, result)
  forget(mark, ref, 'cancelled')
  return 'cancelled'
end
