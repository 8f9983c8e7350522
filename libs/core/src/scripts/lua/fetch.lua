--[[
  fetch: the next job for a worker, through the gate.

    KEYS, ARGV  those of BullMQ's moveToActive, and last: its name, prefix of the queue, root
  Answers what BullMQ's script does; behind it, as fifth, what was refused: '<id> <reason>' each.
]]
root = ARGV[#ARGV]
local run = { prefix = ARGV[1], timestamp = ARGV[2], options = unpackMessage(ARGV[3]) }
local turns = beginFetching(run.prefix, run.timestamp)
local answer = withRefused(run, throughGate(run, fetchNext(run)))
if turns then fair.takeDue(run.prefix, turns) end
return answer
