--[[
  away: the drivers who went offline some time ago, and whose requests nobody has taken back.

    KEYS[1]   the root of all keys
    ARGV[1]   how many, at most

  Answers {driver, since when, ms, …}.
]]
--- @include trip
local before = text(now - CARE_MS)
return redis.call('ZRANGEBYSCORE', root .. ':away', '-inf', before, 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[1]))
