#!lua flags=allow-oom
--[[
  due: the leases that something is to be done for. Each is put off, so that another janitor leaves it alone meanwhile, and
  whoever dies with it leaves it to the next. What is not to be read any more is forgotten on the way.

    KEYS[1]   the root of all keys
    ARGV[1]   how many, at most

  Answers leases.
]]
--- @include lease
local due = root .. ':due'
local ids = redis.call('ZRANGEBYSCORE', due, '-inf', text(now), 'LIMIT', 0, tonumber(ARGV[1]))
for _, id in ipairs(ids) do
  look_at(id, now + 5 * CARE_MS)
end
forget_old()
return ids
