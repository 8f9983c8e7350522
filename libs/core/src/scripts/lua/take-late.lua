--[[
  take-late: from now on cancels are remembered for jobs that are added later than they were asked for.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root
  Answers the store's time, µs.
]]
local LASTS_HALF = TAKES_LATE_MS / 2

root = ARGV[1]
local key = root .. '~takes-late'
if redis.call('PTTL', key) < LASTS_HALF then redis.call('SET', key, '1', 'PX', TAKES_LATE_MS) end
return whole(nowUs())
