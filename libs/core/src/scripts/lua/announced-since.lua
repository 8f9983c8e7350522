--[[
  announced-since: where a new reader of the announced cancels begins. It reads the last ones again: its worker may have fetched a job
  before it began to read.

    KEYS[1]  the stream
  Answers the id after which it reads.
]]
local READ_AGAIN_MS = 10000

local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local at = newest and tonumber(string.match(newest[1], '^%d+')) or 0
return string.format('%.0f-0', math.max(0, at - READ_AGAIN_MS))
