--[[
  take-late: from now on cancels are remembered for jobs that are added later than they were asked for.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root
  Answers the store's time, µs.
]]
local LASTS_MS = 30 * 24 * 3600 * 1000

local root = ARGV[1]
local key = root .. '~takes-late'
if redis.call('PTTL', key) < LASTS_MS / 2 then redis.call('SET', key, '1', 'PX', LASTS_MS) end
return whole(nowUs())
