--[[
  remember: records a request of an owner, so that cancelling the owner finds it.

    KEYS[1]   the requests of the owner

    ARGV[1]   the diagram
    ARGV[2]   retention, ms
    ARGV[3]   limit of requests; the oldest are evicted

  Answers ok.
]]
--- @include clock
redis.call('ZADD', KEYS[1], clock(), ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'ok'
