--[[
  renew: the locks of runs are renewed, and runs whose owner was cancelled are named: this is how a worker learns of a cancel whose
  message it missed.

    KEYS, ARGV  those of BullMQ's extendLocks, and last: its name, prefix of the queue, root
  Answers {jobs whose lock is lost, jobs whose owner was cancelled}.
]]
root = ARGV[#ARGV]
local lost = bull.extendLocks(KEYS, ARGV)
local prefix, cancelled = ARGV[1], {}
for _, job in ipairs(unpackMessage(ARGV[3])) do
  local mark = markOfJob(prefix, job)
  if mark and not allCurrent(mark, refOf(prefix, job)) then cancelled[#cancelled + 1] = job end
end
return { lost, cancelled }
