-- A job that has ended waits again, under the present epochs of its owners.

-- The job of the same deduplication key that waits already, or nothing.
local function otherPending(mark, ref)
  if mark.key == '' then return nil end
  local pending = redis.call('HGET', pendingOf(mark.owner), mark.key)
  if not pending or pending == ref then return nil end
  local prefix, job = splitRef(pending)
  local other = markOfJob(prefix, job)
  return other and allCurrent(other, pending) and job or nil
end

-- @param letBull BullMQ's part: 1 if the job waits again
-- The new owners are listed by writeNoted. Answers what BullMQ's part does; or {'closed', owner} or {'pending', job}, and nothing has
-- changed then.
local function waitAgain(prefix, job, mark, letBull)
  local owners, ref = ownersOfMark(mark), refOf(prefix, job)
  local at, closed = lookUp(owners, nowUs())
  if closed then return { 'closed', closed } end
  local pending = otherPending(mark, ref)
  if pending then return { 'pending', pending } end

  local answer = letBull()
  if answer ~= 1 then return answer end
  moor(prefix, job, owners, at, '', needsOf(mark))
  if mark.key ~= '' then redis.call('HSET', pendingOf(mark.owner), mark.key, ref) end
  return answer
end
