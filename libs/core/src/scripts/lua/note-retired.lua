--[[
  note-retired: what jobs were that had ended, and that are removed next.

    KEYS[1]  any key of the queue, for its Cluster slot
    ARGV[1]  root   [2] queue   then for each job: its id, and what it was, JSON
]]
root = ARGV[1]
keepRemoved('retired', ARGV[2], { unpack(ARGV, 3) })
