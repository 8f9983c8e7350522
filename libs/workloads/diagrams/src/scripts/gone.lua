#!lua flags=allow-oom
--[[
  gone: an owner was cancelled, and nobody has seen yet to what it asked for.

    KEYS[1]   the owners that were cancelled

    ARGV[1]   its epoch since, and the owner

  Answers ok.
]]
redis.call('ZADD', KEYS[1], 0, ARGV[1])
return 'ok'
