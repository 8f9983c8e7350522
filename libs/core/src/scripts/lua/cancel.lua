--[[
  cancel: the point of no return. The owner's epoch moves: no job of before passes the gate or commits a result. The receipt is
  begun, and the first page of jobs is removed.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner   [3] cancelId   [4] 1 to close it   [5] reason   [6] by   [7] keep the receipt for, ms
    ARGV[8]  when that happened which ends it, ms, or '': an owner that was reopened later stays as it is
    ARGV[9]  epoch   [10] time of the newest entry that the caller saw, or '': an entry since makes the cancel void
  Answers {'cancelled', cursor of the clean-up}; {'repeated'} for a cancelId that was used, {'taken'} if for another owner;
  {'late'} or {'moved'} for [8] and [9]; {'unknown'} for an owner without a record that is not to be closed. Only the first one
  has written anything.
]]
root = ARGV[1]
local owner, cancelId, closes, happenedAt = ARGV[2], ARGV[3], ARGV[4] == '1', tonumber(ARGV[8])
local receipt, record = receiptOf(cancelId), recordOf(owner)

local earlier = redis.call('HGET', receipt, 'owner')
if earlier then return { earlier == owner and 'repeated' or 'taken' } end

local known = redis.call('HMGET', record, 'epoch', 'wanted', 'state')
if ARGV[9] ~= '' and (ARGV[9] ~= known[1] or ARGV[10] ~= known[2]) then return { 'moved' } end
local reopenedAt = tonumber(string.match(known[3] or '', '^open (%d+)$') or '')
if happenedAt and reopenedAt and happenedAt < reopenedAt then return { 'late' } end
if not known[1] and not closes then return { 'unknown' } end

local now, before = nowUs(), known[1] or '0'
local epoch = '0' .. whole(math.max(tonumber(before) + 1, now))
openReceipt(cancelId, now, ARGV[7], { 'owner', owner, 'from', before, 'epoch', epoch, 'closed', closes and '1' or '', 'reason', ARGV[5], 'by', ARGV[6] })
redis.call('HSET', record, 'epoch', epoch, 'wanted', known[2] or '0', 'cancel', cancelId)
redis.call('PERSIST', record)
if known[1] then redis.call('ZREM', listOf(known[1]), owner) end
redis.call('ZADD', listOf(epoch), '0', owner)
if closes then redis.call('HSET', record, 'state', 'closed') end
redis.call('DEL', pendingOf(owner))

return { 'cancelled', (cleanPage(owner, cancelId, tonumber(before), '0')) }
