#!lua flags=allow-oom
--[[
  due: the trips that something is to be done for. Each is put off, so that another janitor leaves it alone meanwhile, and
  whoever dies with it leaves it to the next.

    KEYS[1]   the root of all keys
    ARGV[1]   how many, at most

  Answers trips.
]]
--- @include trip
local due = root .. ':due'
local ids = redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, tonumber(ARGV[1]))
for _, id in ipairs(ids) do
  redis.call('ZADD', due, now + CARE_MS, id)
end
return ids
