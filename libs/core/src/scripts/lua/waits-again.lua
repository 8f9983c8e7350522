-- A job that has ended waits again, under the present epochs of its owners.

-- @param letBull BullMQ's part: 1 if the job waits again
-- The new owners are listed by writeNoted. Answers what BullMQ's part does; or {'closed', owner}, and nothing has changed then.
local function waitAgain(prefix, job, mark, letBull)
  local owners = ownersOfMark(mark)
  local at, closed = lookUp(owners, nowUs())
  if closed then return { 'closed', closed } end

  local answer = letBull()
  if answer ~= 1 then return answer end
  setMark(prefix, job, writeMark(owners, '', needsOf(mark)))
  enterAll(owners, refOf(prefix, job), at)
  return answer
end
