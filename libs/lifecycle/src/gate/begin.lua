#!lua flags=allow-oom
--[[
  gate: may these jobs run now?

  The one place where an old job is stopped, whatever road brought it to a worker. The epoch is compared and the run is
  written down in one step, so that a cancel either sees the run or stops it here. Sent twice, the answer is the same.

    KEYS[i]   record of an owner; :runs, :dedup, :late and :done beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    then 7 for each key:
      the job; the run's token; the epoch the job was enqueued under; its life: how long after it was last wanted it
      may start, ms, '' for ever; length of a lease, ms; digest of its deduplication key, '' for none; whether this is
      its primary owner, 1

  Answers for each: {'run', fence}, {'run', fence, payload that replaces its own}, {'done', committed result, the fence of
  the run that committed it},
  {'skip', cancelled|expired|superseded|ended}, {'wait', busy, ms}, {'unknown'}, or {'error', text}.
]]
--- @include each
local now = clock(ARGV[1])

local function begin(record, at)
  local job, token, epoch, life = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local lease, key, primary = number(ARGV[at + 4]), ARGV[at + 5], ARGV[at + 6] == '1'
  if life ~= '' then
    life = number(life)
  end

  local known = redis.call('HMGET', record, 'e', 'n', 'j' .. job)
  local current, newest, entry = known[1], number(known[2] or '0'), known[3]
  if not current then
    return { 'unknown' }
  end
  if current ~= epoch then
    return { 'skip', 'cancelled' }
  end

  local entryEpoch, wantedAt, fence, holder, replaced =
    string.match(entry or '', '^(%d+)|(%d+)|(%d+)|([^|]*)(.*)$')
  if not fence then
    -- It has left the index: it ended, and what brought it here again was late.
    return { 'skip', key ~= '' and 'superseded' or 'ended' }
  end
  if entryEpoch == '0' then
    -- It alone was cancelled, not its owner.
    return { 'skip', 'cancelled' }
  end
  local hasBegun = fence ~= '0'
  local runs = record .. ':runs'
  local heldUntil = hasBegun and tonumber(redis.call('ZSCORE', runs, job .. '|' .. holder) or 0) or 0
  local isPending, payload = false, false
  if key ~= '' then
    isPending = redis.call('HGET', record .. ':dedup', key) == epoch .. '|' .. job
    payload = redis.call('HGET', record .. ':late', job)
  end
  if holder == token and heldUntil > 0 then
    return { 'run', fence, payload or nil }
  end
  if heldUntil > now then
    return { 'wait', 'busy', whole(heldUntil - now) }
  end
  -- Before the time is looked at: what was done in time is done.
  local result = primary and hasBegun and redis.call('HGET', record .. ':done', job)
  if result then
    return { 'done', result, fence }
  end
  -- Each trigger that was left to it has moved the time; once it has begun, none is.
  if life ~= '' and now > number(wantedAt) + life then
    if isPending then
      -- It will not run, so it must not swallow the next trigger.
      redis.call('HDEL', record .. ':dedup', key)
    end
    return { 'skip', 'expired' }
  end
  if key ~= '' and not isPending and not hasBegun then
    return { 'skip', 'superseded' }
  end

  -- Written first: it is the one whose type was not seen yet, and one of a wrong type must show before anything is written.
  redis.call('ZADD', runs, now + lease, job .. '|' .. token)
  if isPending then
    -- From here on it is running, so a trigger that comes now makes a new pending twin.
    redis.call('HDEL', record .. ':dedup', key)
  end
  if heldUntil > 0 then
    redis.call('ZREM', runs, job .. '|' .. holder)
  end
  local newFence = whole(newest + 1)
  local place = epoch .. '|' .. wantedAt .. '|' .. newFence .. '|' .. token .. replaced
  redis.call('HSET', record, 'n', newFence, 'j' .. job, place)
  return { 'run', newFence, payload or nil }
end

return each(begin, 2, 7)
