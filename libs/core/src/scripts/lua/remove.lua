--[[
  remove: one of BullMQ's scripts that remove jobs; what it removes leaves the index.

    KEYS, ARGV  those of BullMQ's script, and last: its name, prefix of the queue, root
]]
root = ARGV[#ARGV]
local answer = bull[ARGV[#ARGV - 2]](KEYS, ARGV)
forgetRemoved('removed')
return answer
