#!lua flags=allow-oom
--[[
  take: takes due items and hides them from other processes for a while.

    KEYS[1]   a due list

    ARGV[1]   limit
    ARGV[2]   time until they are due again, ms

  Answers their ids.
]]
--- @include clock
local now = clock()
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, tonumber(ARGV[1]))
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), id)
end
return ids
