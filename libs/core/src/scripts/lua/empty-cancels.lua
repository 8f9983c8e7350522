--[[
  Cancels that find no job. A caller may name any number of owners that never had one, and any number of cancelIds: what they leave is
  bounded, also in a store that is full.

    <root>~empty  zset: such cancels, by time. The newest keep their receipts
  The owners that they close are in <root>~closed. They stay closed for as long as any other, so one too many is refused.
]]
local EMPTY_RECEIPTS_KEPT = 1000
local FORGOTTEN_AT_ONCE = 100

-- Are as many owners remembered as may be without ever having had a job?
local function isFull(mostClosed, now)
  return mostClosed and redis.call('ZCOUNT', root .. '~closed', whole(now - STATE_KEPT_MS * 1000), '+inf') >= mostClosed
end

-- When a job was last enqueued for it. An owner that had jobs in another partition is not among those that never had one.
local function wantedOf(owner, known, mostClosed)
  if mostClosed ~= '' or (known and known ~= '0') then return known or '0' end
  redis.call('ZREM', root .. '~closed', owner)
  return '1'
end

local function listEmpty(cancelId, now, keepMs)
  local empty = root .. '~empty'
  redis.call('ZADD', empty, now, cancelId)
  redis.call('PEXPIRE', empty, keepMs)
  local over = math.min(FORGOTTEN_AT_ONCE, redis.call('ZCARD', empty) - EMPTY_RECEIPTS_KEPT)
  for _, old in ipairs(over > 0 and redis.call('ZRANGE', empty, 0, over - 1) or {}) do
    redis.call('DEL', receiptOf(old))
    redis.call('ZREM', empty, old)
    redis.call('ZREM', root .. '~receipts', old)
  end
end
