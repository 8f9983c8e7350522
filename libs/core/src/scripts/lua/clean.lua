--[[
  clean: the next page of the clean-up of a cancel. Any process may go on with it, twice too.

    KEYS[1]  receipt
    ARGV[1]  root   [2] cancelId   [3] cursor, '0' to begin
  Answers {next cursor, number of runs that hold a lock on this page}, {'rest', …} if the same page has more jobs; {'gone'} without a
  receipt.
]]
root = ARGV[1]
local cancelId = ARGV[2]
local receipt = redis.call('HMGET', receiptOf(cancelId), 'owner', 'from', 'jobs')
if not receipt[1] then
  redis.call('ZREM', root .. '~cancels', cancelId)
  return { 'gone' }
end
if receipt[3] then return { cleanNamed(receipt[1], cancelId, receipt[3], ARGV[3]) } end
return { cleanPage(receipt[1], cancelId, tonumber(receipt[2]), ARGV[3]) }
