--[[
  spread-done: a cancel has been made in all partitions.

    KEYS[1]  receipt in the home partition
    ARGV[1]  root   [2] cancelId   [3] 1 if no other partition had a job
]]
root = ARGV[1]
local cancelId = ARGV[2]
local receipt = redis.call('HMGET', KEYS[1], 'empty', 'keep')
redis.call('HDEL', KEYS[1], 'spread', 'empty')
redis.call('ZREM', root .. '~spreading', cancelId)
if receipt[1] and ARGV[3] == '1' then listEmpty(cancelId, nowUs(), receipt[2]) end
return 'done'
