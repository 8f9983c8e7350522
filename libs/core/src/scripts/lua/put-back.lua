-- A job that had ended and waits again, without being in an index: a program that knows no owners has retried it.

-- No owner was cancelled since the job was enqueued: a cancel moves the epoch.
local function isPutBack(mark, ref)
  for _, owner in ipairs(ownersOfMark(mark)) do
    local known = redis.call('HMGET', recordOf(owner.name), 'epoch', ref)
    if known[2] or (known[1] and known[1] ~= owner.epoch) then return false end
  end
  return true
end

-- Like a retry by Mooring: under the present epochs, and without the old deadline. Answers false for a job that was not put back.
local function entersAgain(prefix, job, mark, ref)
  if not isPutBack(mark, ref) then return false end
  local owners = ownersOfMark(mark)
  local at = lookUp(owners, nowUs())
  if not at then return false end
  setMark(prefix, job, writeMark(owners, '', needsOf(mark)))
  enterAll(owners, ref, at)
  return true
end
