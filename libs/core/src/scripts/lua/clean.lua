--[[
  clean: the next page of the clean-up of a cancel. Any process may go on with it, twice too.

    KEYS[1]  receipt
    ARGV[1]  root   [2] cancelId   [3] cursor, '0' to begin
  Answers {next cursor, number of runs that hold a lock on this page}; {'gone'} without a receipt.
]]
root = ARGV[1]
local cancelId = ARGV[2]
local receipt = redis.call('HMGET', receiptOf(cancelId), 'owner', 'from', 'jobs')
if not receipt[1] then
  redis.call('ZREM', root .. '~cancels', cancelId)
  return { 'gone' }
end
if receipt[3] then
  local refs = {}
  for ref in string.gmatch(receipt[3], '[^\n]+') do
    if redis.call('HGET', recordOf(receipt[1]), ref) == '0' then refs[#refs + 1] = ref end
  end
  return { '0', cleanRefs(receipt[1], cancelId, refs, msText(nowUs())) }
end
return { cleanPage(receipt[1], cancelId, tonumber(receipt[2]), ARGV[3]) }
