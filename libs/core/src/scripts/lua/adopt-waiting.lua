--[[
  adopt-waiting: jobs that wait without being in an index get their owners: those of plain producers, and those that a program that
  knows no owners has retried. A job of a closed owner leaves its queue.

    KEYS[1]  any key of the queue, for its Cluster slot
    ARGV[1]  root   [2] prefix of the queue   then for each job: id; owners, joined by |, or ''; those of its mark, if it has one, come first
  Answers for each 'adopted', 'removed', or 'passed' for a job that has begun, has ended, has no owners or is in an index already.
]]
root = ARGV[1]
local prefix, now = ARGV[2], nowUs()

local function adopt(job, ref, owners, scheduler, parent)
  local at, closed = lookUp(owners, now)
  if closed then
    remember(owners, ref, 'cancelled')
    removeFromQueue(prefix, job, scheduler, parent, msText(now), 'cancelled')
    return 'removed'
  end
  moor(prefix, job, owners, at, '', '||')
  return 'adopted'
end

-- A worker that has the job gives it its owners itself.
local function adoptWaiting(job, owners)
  local known = redis.call('HMGET', prefix .. job, 'opts', 'finishedOn', 'rjk', 'parentKey')
  if not known[1] or known[2] or isLocked(prefix, job) then return 'passed' end
  local ref, mark = refOf(prefix, job), markIn(known[1])
  if mark then return entersAgain(prefix, job, mark, ref) and 'adopted' or 'passed' end
  return #owners > 0 and adopt(job, ref, owners, known[3], known[4]) or 'passed'
end

local answers = {}
for i = 3, #ARGV, 2 do
  answers[#answers + 1] = adoptWaiting(ARGV[i], ownersNamed(ARGV[i + 1]))
end
writeNoted()
return answers
