--[[
  wake-worker: a worker took the marker of a queue and cannot fetch yet. Another one may.

    KEYS[1]  marker of the queue
]]
return redis.call('ZADD', KEYS[1], 0, '0')
