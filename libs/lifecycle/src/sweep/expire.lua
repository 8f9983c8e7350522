#!lua flags=allow-oom
--[[
  sweep: these jobs are too late to start, and no trigger is left to them any more.

  A trigger that is left to a pending twin moves the twin's time. So the time is compared and the twin's key given free in
  one step: from then on nothing moves it, the next trigger makes a job of its own, and the gate refuses this one.

    KEYS[i]   record of the job's primary owner; :runs, :dedup and :done beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    then 4 for each key:
      the job; the epoch it was enqueued under; its life: how long after it was last wanted it may start, ms; digest of
      its deduplication key, '' for none

  Answers for each: {'expired'}; {'later', when it is to be looked at again, ms}; {'busy'}, a run has it, or has done it in
  time; {'gone'}, it has no place there, or was cancelled; or {'error', text}.
]]
--- @include each
local now = clock(ARGV[1])

local function expire(record, at)
  local job, epoch, life, key = ARGV[at], ARGV[at + 1], number(ARGV[at + 2]), ARGV[at + 3]
  local known = redis.call('HMGET', record, 'e', 'j' .. job)
  local entryEpoch, wantedAt, holder = string.match(known[2] or '', '^(%d+)|(%d+)|%d+|([^|]*)')
  local heldUntil = tonumber(redis.call('ZSCORE', record .. ':runs', job .. '|' .. (holder or '')) or 0)
  local isDone = redis.call('HEXISTS', record .. ':done', job) == 1
  local held = key ~= '' and redis.call('HGET', record .. ':dedup', key)

  if known[1] ~= epoch or entryEpoch ~= epoch then
    return { 'gone' }
  end
  if heldUntil > now or isDone then
    return { 'busy' }
  end
  if now <= tonumber(wantedAt) + life then
    return { 'later', whole(tonumber(wantedAt) + life) }
  end
  if held == epoch .. '|' .. job then
    redis.call('HDEL', record .. ':dedup', key)
  end
  return { 'expired' }
end

return each(expire, 2, 4)
