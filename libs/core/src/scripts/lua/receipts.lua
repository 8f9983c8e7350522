--[[
  The receipt of a cancel: what it removed and what it told to stop, counted up by every step that ends a job of its owner.

    <root>~receipt~<cancelId>  hash: owner, from, epoch, at, reason, by, closed, jobs (if these alone); removed:<queue>:<state>, aborted:<queue>,
                               acknowledged:<queue>, abandoned:<queue>, refused:<queue>; schedules; done, once nothing is left; durable, once that was confirmed; in the home
                               partition of several turn, spread until the others were told, empty until then if it had no job
    <root>~told~<queue>:<id>   set: the cancels that have told the run of this job to stop; it lives as long as their receipts
    <root>~receipts            zset: the cancels that have one, by time, µs
    <root>~cancels             zset: cancels whose clean-up is not over, by time
    <root>~spreading           zset, in the home partition: cancels that were not made in all partitions yet, by time
  The field `cancel` of the owner's record names the newest cancel whose clean-up is not over.
]]

-- Each receipt that comes makes room for two whose time is over.
local function listReceipt(cancelId, now, keepMs)
  local list = root .. '~receipts'
  redis.call('ZADD', list, whole(now), cancelId)
  redis.call('PEXPIRE', list, keepMs)
  local over = redis.call('ZRANGEBYSCORE', list, '-inf', whole(now - tonumber(keepMs) * 1000), 'LIMIT', 0, 2)
  if #over > 0 then redis.call('ZREM', list, unpack(over)) end
end

local function writeReceipt(cancelId, now, keepMs, fields)
  redis.call('HSET', receiptOf(cancelId), 'at', msText(now), 'keep', keepMs, unpack(fields))
  redis.call('PEXPIRE', receiptOf(cancelId), keepMs)
  listReceipt(cancelId, now, keepMs)
end

local function openReceipt(cancelId, now, keepMs, fields)
  writeReceipt(cancelId, now, keepMs, fields)
  redis.call('ZADD', root .. '~cancels', now, cancelId)
  keepHistory(keepMs)
end

local function queueOf(ref)
  return string.match(ref, '^[^:]*')
end

local function toldOf(ref)
  return root .. '~told~' .. ref
end

-- A receipt whose time is over is not begun again.
local function countIn(cancelId, ref, what)
  if redis.call('EXISTS', receiptOf(cancelId)) == 1 then
    redis.call('HINCRBY', receiptOf(cancelId), what .. ':' .. queueOf(ref), 1)
  end
end

local function countFor(owner, ref, what)
  local cancelId = redis.call('HGET', recordOf(owner), 'cancel')
  if cancelId then countIn(cancelId, ref, what) end
end

-- Counts a job for each cancelled owner that it has.
local function count(mark, ref, what)
  for _, owner in ipairs(ownersOfMark(mark)) do
    if not isCurrent(owner.name, owner.epoch, ref) then countFor(owner.name, ref, what) end
  end
end

-- As in run-watch.ts.
local ABANDONED = '^The run was told to stop %(cancelled%) and did not'

-- A cancelled run has ended. One that no clean-up had come to learns of the cancel now.
local function countEndOfRun(mark, ref, result)
  local cancels = redis.call('SMEMBERS', toldOf(ref))
  for _, cancelId in ipairs(cancels) do
    countIn(cancelId, ref, 'acknowledged')
    if result and string.find(result, ABANDONED) then countIn(cancelId, ref, 'abandoned') end
  end
  redis.call('DEL', toldOf(ref))
  if #cancels > 0 then return end
  count(mark, ref, 'aborted')
  count(mark, ref, 'acknowledged')
end
