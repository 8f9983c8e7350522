--[[
  schedule: BullMQ's addJobScheduler for a scheduler with owners. Its first turn is a job of these owners.

    KEYS, ARGV  those of BullMQ's addJobScheduler, and last: owners, joined by |; <key>|<limit>|<slot>; prefix of the queue; root
  Answers what BullMQ's script does, or {'closed', owner}.
]]
local last = #ARGV
root = ARGV[last]
local prefix, needs, owners = ARGV[last - 1], ARGV[last - 2], ownersNamed(ARGV[last - 3])

local at, closed = lookUp(owners, nowUs())
if closed then return { 'closed', closed } end

local answer = bull.addJobScheduler(KEYS, ARGV)
if isError(answer) then return answer end
forgetRemoved('rescheduled')
local job = answer[1]
setMark(prefix, job, writeMark(owners, '', needs))
enterAll(owners, refOf(prefix, job), at)
writeNoted()
return answer
