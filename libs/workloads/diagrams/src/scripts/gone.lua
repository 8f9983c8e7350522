#!lua flags=allow-oom
--[[
  gone: records a cancelled owner whose requests are not handled yet.

    KEYS[1]   the cancelled owners

    ARGV[1]   its current epoch, and the owner

  Answers ok.
]]
redis.call('ZADD', KEYS[1], 0, ARGV[1])
return 'ok'
