#!lua flags=allow-oom
--[[
  gate: these runs live on. It is also how a run hears of its owner's cancellation when no message reached it.

    KEYS[i]   record of an owner; :runs beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    then 4 for each key: the job; the run's token; its epoch; length of a lease, ms

  Answers for each: {'ok'}, {'cancelled'}, {'lost'} (its lease ended, or another run took over), or {'error', text}.
]]
--- @include each
local now = clock(ARGV[1])

local function renew(record, at)
  local member, epoch, lease = ARGV[at] .. '|' .. ARGV[at + 1], ARGV[at + 2], number(ARGV[at + 3])
  local known = redis.call('HMGET', record, 'e', 'j' .. ARGV[at])
  local current, isCancelledAlone = known[1], string.match(known[2] or '', '^0|')
  local heldUntil = redis.call('ZSCORE', record .. ':runs', member)
  if not current or not heldUntil or tonumber(heldUntil) < now then
    return { 'lost' }
  end
  if current ~= epoch then
    return { 'cancelled' }
  end
  if isCancelledAlone then
    return { 'cancelled' }
  end
  redis.call('ZADD', record .. ':runs', now + lease, member)
  return { 'ok' }
end

return each(renew, 2, 4)
