--[[
  retry: a job that has ended waits again, under the present epochs of its owners. A closed owner refuses it; it keeps its error then.

    KEYS, ARGV  those of BullMQ's reprocessJob, and last: prefix of the queue, root
  Answers what BullMQ's script does, or {'closed', owner}.
]]
root = ARGV[#ARGV]
local prefix, job = ARGV[#ARGV - 1], ARGV[1]
local mark = markOfJob(prefix, job)
if not mark then return bull.reprocessJob(KEYS, ARGV) end

local owners = ownersOfMark(mark)
local at, closed = lookUp(owners, nowUs())
if closed then return { 'closed', closed } end

local answer = bull.reprocessJob(KEYS, ARGV)
if answer ~= 1 then return answer end
setMark(prefix, job, writeMark(owners, '', needsOf(mark)))
enterAll(owners, refOf(prefix, job), at)
writeNoted()
return answer
