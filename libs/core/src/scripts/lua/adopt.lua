--[[
  adopt: a job that a plain producer added, and that a worker has just fetched, gets its owners. If one of them is closed, it ends,
  and the scheduler that made it too.

    KEYS[1]  the job
    ARGV[1]  root   [2] prefix of the queue   [3] job   [4] token   [5] owners, joined by |
  Answers 'adopted', 'cancelled', or BullMQ's error code.
]]
root = ARGV[1]
local prefix, job, owners = ARGV[2], ARGV[3], ownersNamed(ARGV[5])
local ref, now = refOf(prefix, job), nowUs()

local at, closed = lookUp(owners, now)
if closed then
  local scheduler = redis.call('HGET', prefix .. job, 'rjk')
  local answer = failUnkept(prefix, job, msText(now), ARGV[4], 'cancelled')
  if isError(answer) then return answer end
  if scheduler then bull.removeJobScheduler(keysOf('removeJobScheduler', prefix), { scheduler, prefix }) end
  for _, owner in ipairs(owners) do rememberFor(owner.name, msText(now) .. ' cancelled ' .. ref) end
  return 'cancelled'
end
setMark(prefix, job, writeMark(owners, '', '||'))
enterAll(owners, ref, at)
writeNoted()
return 'adopted'
