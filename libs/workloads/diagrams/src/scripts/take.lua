#!lua flags=allow-oom
--[[
  take: the diagrams that are due. Others leave them alone for a while.

    KEYS[1]   the list of diagrams to be tended

    ARGV[1]   how many at most
    ARGV[2]   how long they are left alone, ms

  Answers their ids.
]]
--- @include clock
local now = clock()
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, tonumber(ARGV[1]))
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), id)
end
return ids
