-- A job that has ended waits again, under the present epochs of its owners.

-- @param mark nothing for a job without owners   @param keys, args of BullMQ's reprocessJob
-- The new owners are listed by writeNoted. Answers what BullMQ's script does, 1 if the job waits again; or {'closed', owner} or
-- {'pending', job}, and nothing has changed then.
local function waitAgain(prefix, job, mark, keys, args)
  if not mark then return bull.reprocessJob(keys, args) end
  local owners, ref = ownersOfMark(mark), refOf(prefix, job)
  local at, closed = lookUp(owners, nowUs())
  if closed then return { 'closed', closed } end
  local pending = mark.key ~= '' and otherPending(mark.owner, mark.key, ref)
  if pending then return { 'pending', pending.job } end

  local turn = fair.read(prefix, job)
  local answer = bull.reprocessJob(keys, args)
  if answer ~= 1 then return answer end
  if turn then
    fair.move(prefix, turn)
    fair.write()
  end
  moor(prefix, job, owners, at, '', needsOf(mark))
  if mark.key ~= '' then redis.call('HSET', pendingOf(mark.owner), mark.key, ref) end
  return answer
end

-- @param state that it has ended in   @param push 'LPUSH' or 'RPUSH'   @param reset '1' to count its attempts from 0
local function retryEnded(prefix, job, mark, state, push, reset)
  local property = state == 'failed' and 'failedReason' or 'returnvalue'
  return waitAgain(prefix, job, mark, reprocessJobKeys(prefix, job, state), { job, push, property, state, reset, reset })
end
