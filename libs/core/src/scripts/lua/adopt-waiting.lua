--[[
  adopt-waiting: jobs that wait without being in an index get their owners: those of plain producers, and those that a program that
  knows no owners has retried. A job of a closed owner ends.

    KEYS[1]  any key of the queue, for its Cluster slot
    ARGV[1]  root   [2] prefix of the queue   then for each job: id; owners, joined by |, or ''; those of its mark, if it has one, come first
  Answers {how many were adopted, how many have ended}.
]]
root = ARGV[1]
local prefix, now = ARGV[2], nowUs()
local adopted, ended = 0, 0

local function waits(job)
  return not isLocked(prefix, job) and redis.call('HEXISTS', prefix .. job, 'finishedOn') == 0
end

local function adopt(job, owners, ref)
  local at, closed = lookUp(owners, now)
  if closed then
    ended = ended + 1
    for _, owner in ipairs(owners) do rememberFor(owner.name, msText(now) .. ' cancelled ' .. ref) end
    return removeFromQueue(prefix, job, msText(now))
  end
  adopted = adopted + 1
  setMark(prefix, job, writeMark(owners, '', '||'))
  enterAll(owners, ref, at)
end

for at = 3, #ARGV, 2 do
  local job, names = ARGV[at], ARGV[at + 1]
  local ref, options = refOf(prefix, job), redis.call('HGET', prefix .. job, 'opts')
  local mark = options and markIn(options)
  if mark and waits(job) and entersAgain(prefix, job, mark, ref) then
    adopted = adopted + 1
  elseif options and not mark and names ~= '' and waits(job) then
    adopt(job, ownersNamed(names), ref)
  end
end
writeNoted()
return { adopted, ended }
