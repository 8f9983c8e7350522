--[[
  adopt: a job that a plain producer added, and that a worker has just fetched, gets its owners. If one of them is closed, it ends,
  and with it the scheduler of which it is a turn.

    KEYS[1]  the job
    ARGV[1]  root   [2] prefix of the queue   [3] job   [4] token   [5] owners, joined by |
  Answers 'adopted', 'cancelled', or BullMQ's error code.
]]
root = ARGV[1]
local prefix, job, owners = ARGV[2], ARGV[3], ownersNamed(ARGV[5])
local ref, now = refOf(prefix, job), nowUs()

-- A sweep gave the job its owners after it was fetched.
local mark = markOfJob(prefix, job)
if mark and not allCurrent(mark, ref) then return endCancelled(prefix, job, msText(now), ARGV[4], mark, ref) end
if mark then return 'adopted' end

local at, closed = lookUp(owners, now)
if closed then
  local scheduler = schedulerOf(prefix, job)
  local answer = failUnkept(prefix, job, msText(now), ARGV[4], 'cancelled')
  if isError(answer) then return answer end
  local turn = scheduler and turnOf(prefix, scheduler)
  if turn and not markOfJob(prefix, turn) then removeScheduler(prefix, scheduler) end
  remember(owners, ref, 'cancelled')
  return 'cancelled'
end
moor(prefix, job, owners, at, '', '||')
writeNoted()
return 'adopted'
