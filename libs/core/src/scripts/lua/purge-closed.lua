--[[
  purge-closed: forgets owners that were closed or reopened some time ago without ever having had a job. What is enqueued for them later
  is accepted.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root   [2] how long ago at least, ms   [3] how many at most
  Answers how many were forgotten.
]]
root = ARGV[1]
local closed = root .. '~closed'
local owners = redis.call('ZRANGEBYSCORE', closed, '-inf', whole(nowUs() - tonumber(ARGV[2]) * 1000), 'WITHSCORES', 'LIMIT', 0, ARGV[3])
for i = 1, #owners, 2 do
  forgetOwner(owners[i], owners[i + 1])
  redis.call('ZREM', closed, owners[i])
end
return #owners / 2
