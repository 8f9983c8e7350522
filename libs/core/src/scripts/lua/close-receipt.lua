--[[
  close-receipt: a whole pass of the clean-up found nothing left, neither waiting nor running.

    KEYS[1]  receipt
    ARGV[1]  root   [2] cancelId
]]
root = ARGV[1]
local cancelId = ARGV[2]
local owner = redis.call('HGET', receiptOf(cancelId), 'owner')
closeReceipt(owner or '', cancelId)
if not owner then return 'gone' end
forgetIfEmpty(owner)
return 'done'
