--[[
  read-range: reads what BullMQ's clients have no command for.

    KEYS[1]  a sorted set   ARGV[1], ARGV[2]  from and to, by rank
  Answers its members.
]]
return redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2])
