--[[
  retry: a job that has ended waits again, under the present epochs of its owners. A closed owner refuses it, and so does another job
  of its deduplication key that waits already; it keeps its error then.

    KEYS, ARGV  those of BullMQ's reprocessJob, and last: its name, prefix of the queue, root
  Answers what BullMQ's script does, {'closed', owner} or {'pending', job}.
]]
root = ARGV[#ARGV]
local prefix, job = ARGV[#ARGV - 1], ARGV[1]
local answer = waitAgain(prefix, job, markOfJob(prefix, job), KEYS, ARGV)
writeNoted()
return answer
