--[[
  remember: an owner has asked for a diagram; who ends the owner finds it here.

    KEYS[1]   what the owner has asked for

    ARGV[1]   the diagram
    ARGV[2]   how long it is remembered, ms
    ARGV[3]   how many are, at most: the oldest go first

  Answers ok.
]]
--- @include clock
redis.call('ZADD', KEYS[1], clock(), ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'ok'
