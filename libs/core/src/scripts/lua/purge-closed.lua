--[[
  purge-closed: forgets owners that were closed or reopened some time ago without ever having had a job. What is enqueued for them later
  is accepted.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root   [2] how long ago at least, ms   [3] how many at most
  Answers {how many were looked at, how many were forgotten}: one whose record has expired since may have jobs in a new one.
]]
root = ARGV[1]
local closed = root .. '~closed'
local owners = redis.call('ZRANGEBYSCORE', closed, '-inf', whole(nowUs() - tonumber(ARGV[2]) * 1000), 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local forgotten = 0
for i = 1, #owners, 2 do
  local owner, known = owners[i], redis.call('HMGET', recordOf(owners[i]), 'epoch', 'wanted')
  if known[2] == '0' then
    forgetOwner(owner, known[1])
    forgotten = forgotten + 1
  end
  unlistExpired(owner, owners[i + 1], known[1])
  redis.call('ZREM', closed, owner)
end
return { #owners / 2, forgotten }
