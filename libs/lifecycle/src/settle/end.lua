#!lua flags=allow-oom
--[[
  settle: these runs are over; a job that ended for good also leaves its owner's index.

  A run that another one has overtaken takes only itself away, never what belongs to the newer one; nor to a newer life
  of the job's id. What a cancel ended leaves with that cancel's clean-up, which counts it, as long as that is not done.

    KEYS[i]   record of an owner; :runs, :dedup, :late, :done and :cancels beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   how long the record of an owner is kept without jobs, ms; ARGV[3] the same for a closed one
    then 5 for each key:
      the job; the run's token, '' when it did not begin; whether the job leaves, 1; digest of its deduplication key,
      '' for none; the epoch the leaving job was enqueued under, '' for whatever it was

  Answers for each: {'ok'}, or {'error', text}.
]]
local META = 6

--- @include each
local now, keep, keepClosed = clock(ARGV[1]), number(ARGV[2]), number(ARGV[3])

-- Whether a clean-up that is not done comes to it.
local function isCleanedUp(record, epoch)
  for _, upTo in ipairs(redis.call('HVALS', record .. ':cancels')) do
    if tonumber(epoch) <= (tonumber(upTo) or -1) then
      return true
    end
  end
  return false
end

local function finish(record, at)
  local job, token, leaves, key = ARGV[at], ARGV[at + 1], ARGV[at + 2] == '1', ARGV[at + 3]
  local epoch = ARGV[at + 4]
  local known = redis.call('HMGET', record, 'e', 's', 'j' .. job)
  local entryEpoch, fence, holder = string.match(known[3] or '', '^(%d+)|%d+|(%d+)|([^|]*)')
  local isAnothers, diedBefore = false, false
  if token ~= '' then
    isAnothers = fence and holder ~= token
  elseif fence and fence ~= '0' then
    local heldUntil = tonumber(redis.call('ZSCORE', record .. ':runs', job .. '|' .. holder) or now)
    isAnothers, diedBefore = heldUntil > now, heldUntil < now
  end
  -- An id is used again when an Idempotency-Key comes again after a cancel.
  local isOfNewerLife = epoch ~= '' and entryEpoch and entryEpoch ~= epoch
  leaves = leaves and known[1] and not isAnothers and not isOfNewerLife
  if leaves and entryEpoch and entryEpoch ~= known[1] and isCleanedUp(record, entryEpoch) then
    leaves = false
  end
  local hasResult = leaves and redis.call('HEXISTS', record .. ':done', job) == 1
  -- Only a job with a key has one; who ends no run, as a sweep does, may not know the key.
  local mayHaveLate = key ~= '' or token == ''
  local hasLate = leaves and mayHaveLate and redis.call('HEXISTS', record .. ':late', job) == 1
  local pending = leaves and key ~= '' and redis.call('HGET', record .. ':dedup', key)

  if token ~= '' then
    redis.call('ZREM', record .. ':runs', job .. '|' .. token)
  end
  if not leaves then
    return { 'ok' }
  end

  redis.call('HDEL', record, 'j' .. job)
  if diedBefore then
    -- Nobody else will end that run.
    redis.call('ZREM', record .. ':runs', job .. '|' .. holder)
  end
  if hasResult then
    redis.call('HDEL', record .. ':done', job)
  end
  if hasLate then
    redis.call('HDEL', record .. ':late', job)
  end
  if pending and string.match(pending, '|(.+)$') == job then
    redis.call('HDEL', record .. ':dedup', key)
  end
  if redis.call('HLEN', record) <= META and redis.call('EXISTS', record .. ':schedules') == 0 then
    redis.call('PEXPIRE', record, known[2] == 'open' and keep or keepClosed)
  end
  return { 'ok' }
end

return each(finish, 4, 5)
