--[[
  close-receipt: a whole pass of the clean-up found nothing left, neither waiting nor running.

    KEYS[1]  receipt
    ARGV[1]  root   [2] cancelId
]]
root = ARGV[1]
local cancelId = ARGV[2]
local owner = redis.call('HGET', receiptOf(cancelId), 'owner')
redis.call('ZREM', root .. '~cancels', cancelId)
if not owner then return 'gone' end
redis.call('HSET', receiptOf(cancelId), 'done', '1')
if redis.call('HGET', recordOf(owner), 'cancel') == cancelId then
  redis.call('HDEL', recordOf(owner), 'cancel')
  forgetIfEmpty(owner)
end
return 'done'
