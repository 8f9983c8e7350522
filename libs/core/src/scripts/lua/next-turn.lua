--[[
  next-turn: BullMQ's updateJobScheduler. A turn that runs plans the next one, for the same owners; if an owner was cancelled since, the
  scheduler ends instead.

    KEYS, ARGV  those of BullMQ's updateJobScheduler, and last: its name, prefix of the queue, root
  Answers what BullMQ's script does, or 'ended'.
]]
local last = #ARGV
root = ARGV[last]
local prefix, producer = ARGV[last - 1], ARGV[7]
local mark = producer ~= '' and markOfJob(prefix, producer)
if not mark then return bull.updateJobScheduler(KEYS, ARGV) end

if not allCurrent(mark, refOf(prefix, producer)) then
  endSchedulerWith(prefix, producer)
  forgetRemoved('cancelled')
  return 'ended'
end
local job = bull.updateJobScheduler(KEYS, ARGV)
if not job then return job end
-- Which turn has begun last: BullMQ does not keep it.
redis.call('HSET', prefix .. 'repeat:' .. ARGV[2], 'last', producer)
local owners = ownersOfMark(mark)
local at = lookUp(owners, nowUs())
moor(prefix, job, owners, at, startOfTurnBy(prefix, job, ARGV[4]), needsOf(mark))
writeNoted()
return job
