--[[
  set-up: how many partitions a prefix has; the first process decides.

    KEYS[1]  <prefix>~partitions
    ARGV[1]  how many this process has
  Answers how many there are.
]]
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
return redis.call('GET', KEYS[1])
