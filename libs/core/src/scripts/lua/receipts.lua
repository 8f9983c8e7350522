--[[
  The receipt of a cancel: what it removed and what it told to stop, counted up by every step that ends a job of its owner.

    <root>~receipt~<cancelId>  hash: owner, from, epoch, at, reason, by, closed, jobs (if these alone); removed:<queue>:<state>, aborted:<queue>,
                               acknowledged, refused:<queue>; done, once nothing is left; durable, once that was confirmed; in the home
                               partition of several turn, spread until the others were told, empty until then if it had no job
    <root>~told~<cancelId>     set: the runs that were told to stop; it lives as long as the receipt
    <root>~cancels             zset: cancels whose clean-up is not over, by time
    <root>~spreading           zset, in the home partition: cancels that were not made in all partitions yet, by time
  The field `cancel` of the owner's record names the newest cancel whose clean-up is not over.
]]
local function writeReceipt(cancelId, now, keepMs, fields)
  redis.call('HSET', receiptOf(cancelId), 'at', msText(now), 'keep', keepMs, unpack(fields))
  redis.call('PEXPIRE', receiptOf(cancelId), keepMs)
end

local function openReceipt(cancelId, now, keepMs, fields)
  writeReceipt(cancelId, now, keepMs, fields)
  redis.call('ZADD', root .. '~cancels', now, cancelId)
  keepHistory(keepMs)
end

local function queueOf(ref)
  return string.match(ref, '^[^:]*')
end

local function countFor(owner, ref, what)
  local cancelId = redis.call('HGET', recordOf(owner), 'cancel')
  -- A receipt whose time is over is not begun again.
  if cancelId and redis.call('EXISTS', receiptOf(cancelId)) == 1 then
    redis.call('HINCRBY', receiptOf(cancelId), what .. ':' .. queueOf(ref), 1)
  end
end

-- Counts a job for each cancelled owner that it has.
local function count(mark, ref, what)
  for _, owner in ipairs(ownersOfMark(mark)) do
    if not isCurrent(owner.name, owner.epoch, ref) then countFor(owner.name, ref, what) end
  end
end
