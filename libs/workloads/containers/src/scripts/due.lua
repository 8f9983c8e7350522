#!lua flags=allow-oom
--[[
  due: leases that the reconciler should check. Each is rescheduled, so that other janitors leave it alone for now and it
  becomes due again if this process dies. Leases past their retention are removed in the same step.

    KEYS[1]   the root of all keys
    ARGV[1]   limit

  Answers leases.
]]
--- @include lease
local due = root .. ':due'
local ids = redis.call('ZRANGEBYSCORE', due, '-inf', text(now), 'LIMIT', 0, tonumber(ARGV[1]))
for _, id in ipairs(ids) do
  look_at(id, now + 5 * RECHECK_MS)
end
forget_old()
return ids
