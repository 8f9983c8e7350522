--[[
  next-turn: BullMQ's updateJobScheduler. A turn that runs plans the next one, for the same owners; if an owner was cancelled since, the
  scheduler ends instead.

    KEYS, ARGV  those of BullMQ's updateJobScheduler, and last: prefix of the queue, root
]]
local last = #ARGV
root = ARGV[last]
local prefix, scheduler, producer = ARGV[last - 1], ARGV[2], ARGV[7]
local mark = producer ~= '' and markOfJob(prefix, producer)
if not mark then return bull.updateJobScheduler(KEYS, ARGV) end

if not allCurrent(mark, refOf(prefix, producer)) then
  bull.removeJobScheduler(keysOf('removeJobScheduler', prefix), { scheduler, prefix })
  forgetRemoved('cancelled')
  return false
end
local job = bull.updateJobScheduler(KEYS, ARGV)
if not job then return job end
local owners = ownersOfMark(mark)
local at = lookUp(owners, nowUs())
setMark(prefix, job, writeMark(owners, '', needsOf(mark)))
enterAll(owners, refOf(prefix, job), at)
writeNoted()
return job
