--[[
  away: drivers who went offline some time ago and whose requests are not withdrawn yet.

    KEYS[1]   the root of all keys
    ARGV[1]   limit

  Answers {driver, when they went offline in ms, …}.
]]
--- @include trip
local before = text(now - RECHECK_MS)
return redis.call('ZRANGEBYSCORE', root .. ':away', '-inf', before, 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[1]))
