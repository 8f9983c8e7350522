--[[
  fetch: the next job for a worker, through the gate.

    KEYS, ARGV  those of BullMQ's moveToActive, and last the root
  Answers what BullMQ's script does; behind it, as fifth, what was refused: '<id> <reason>' each.
]]
root = ARGV[#ARGV]
local run = runOf(ARGV[1], ARGV[2], unpackMessage(ARGV[3]))
return withRefused(run, throughGate(run, run.fetchNext()))
