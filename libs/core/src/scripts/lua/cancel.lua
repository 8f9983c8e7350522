--[[
  cancel: the point of no return. The owner's epoch moves: no job of before passes the gate or commits a result. The receipt is
  begun, and the first page of jobs is removed.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner   [3] cancelId   [4] 1 to close it   [5] reason   [6] by   [7] keep the receipt for, ms
    ARGV[8]  when that happened which ends it, ms, or '': an owner that was reopened later stays as it is
    ARGV[9]  epoch   [10] time of the newest entry that the caller saw, '-' for none, or '': an entry since makes the cancel void
    ARGV[11] how many owners may be closed that never had a job; '' for one that had jobs in another partition
    ARGV[12] turn, as in turns.lua   [13] what the other partitions have to be told, kept with the receipt until they were
    ARGV[14] 1 if others are told when it is done: it is listed in <root>~outbox, a zset, by when that is looked at by itself, ms
    ARGV[15] when the cancel was asked for, ms, or '' for now; see late.lua
  Answers {'cancelled'}, or {'empty', epoch, time, ms} when there was no job: an owner without a record has one
  afterwards only if it is closed. These two have written something. {'repeated'} for a cancelId that was used, {'taken'} if for another
  owner; {'late'} or {'moved'} for [8] and [9]; {'full'} for [11]; {'late'} if the owner was closed or reopened since the turn was given.
]]
local OTHERS_TELL_AFTER_US = 5000000

root = ARGV[1]
local owner, cancelId, closes, happenedAt = ARGV[2], ARGV[3], ARGV[4] == '1', tonumber(ARGV[8])
local receipt, record = receiptOf(cancelId), recordOf(owner)

local earlier = redis.call('HGET', receipt, 'owner')
if earlier then return { earlier == owner and 'repeated' or 'taken' } end

local known = redis.call('HMGET', record, 'epoch', 'wanted', 'state')
if ARGV[9] ~= '' and (ARGV[9] ~= (known[1] or '-') or ARGV[10] ~= (known[2] or '-')) then return { 'moved' } end
local reopenedAt = tonumber(string.match(known[3] or '', '^open (%d+)$') or '')
if happenedAt and reopenedAt and happenedAt < reopenedAt then return { 'late' } end

local now, before = nowUs(), known[1] or '0'
if closes and not known[1] and decides(ARGV[12]) and isFull(tonumber(ARGV[11]), now) then return { 'full' } end

local isKept = known[1] or closes
local epoch = isKept and '0' .. whole(math.max(tonumber(before) + 1, now)) or ''
local receiptFields = { 'owner', owner, 'from', before, 'epoch', epoch, 'closed', closes and '1' or '', 'reason', ARGV[5], 'by', ARGV[6] }

local spreads = ARGV[13] ~= ''
local turn = (closes or spreads) and takeTurn(owner, ARGV[12], ARGV[7])
if turn == nil then return { 'late' } end
if spreads then
  redis.call('ZADD', root .. '~spreading', now, cancelId)
  for _, value in ipairs({ 'turn', turn, 'spread', ARGV[13] }) do table.insert(receiptFields, value) end
end

late.noteEnd(owner, tonumber(ARGV[15]), ARGV[7])
if known[1] then redis.call('ZREM', listOf(known[1]), owner) end
if isKept then
  redis.call('HSET', record, 'epoch', epoch, 'wanted', wantedOf(owner, known[2], ARGV[11]))
  redis.call('ZADD', listOf(epoch), '0', owner)
end
if closes then redis.call('HSET', record, 'state', 'closed') end

-- Nothing remains to do here after this step. The receipt of one that spreads is listed when no partition had a job.
local function endEmpty()
  writeReceipt(cancelId, now, ARGV[7], receiptFields)
  redis.call('HSET', receipt, 'done', '1')
  if spreads then redis.call('HSET', receipt, 'empty', '1') else listEmpty(cancelId, now, ARGV[7]) end
  if isKept then forgetIfEmpty(owner) end
  return { 'empty', epoch, msText(now) }
end

if ARGV[14] == '1' and decides(ARGV[12]) then redis.call('ZADD', root .. '~outbox', msText(now + OTHERS_TELL_AFTER_US), 'cancel ' .. cancelId) end
if countJobs(owner) <= 0 then return endEmpty() end

openReceipt(cancelId, now, ARGV[7], receiptFields)
redis.call('HSET', record, 'cancel', cancelId)
redis.call('PERSIST', record)
redis.call('DEL', pendingOf(owner))

cleanPage(owner, cancelId, tonumber(before), '0')
return { 'cancelled' }
