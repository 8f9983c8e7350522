-- A job that had ended and waits again, without being in an index: a program that knows no owners has retried it.

-- No owner is known to have been cancelled since the job was enqueued. The epoch that a cancel made begins with a 0; a record that began
-- after the job had ended has another epoch without one.
local function isPutBack(mark, ref)
  for _, owner in ipairs(ownersOfMark(mark)) do
    local known = redis.call('HMGET', recordOf(owner.name), 'epoch', ref)
    local wasCancelled = known[1] and string.byte(known[1]) == ZERO and known[1] ~= owner.epoch
    if known[2] or wasCancelled then return false end
  end
  return true
end

-- Like a retry by Mooring: under the present epochs, and without the old deadline. Answers false for a job that was not put back.
local function entersAgain(prefix, job, mark, ref)
  if not isPutBack(mark, ref) then return false end
  -- The owner's record may be one that this step is to delete.
  writeNoted()
  local owners = ownersOfMark(mark)
  local at = lookUp(owners, nowUs())
  if not at then return false end
  moor(prefix, job, owners, at, '', needsOf(mark))
  writeNoted()
  return true
end
