#!lua
--[[
  enqueue: gives each of many jobs its place in its owner's index, or says why not.

  The epoch is read and the index written in one step, so that a cancel is wholly before or wholly after. For a job with
  a deduplication key the pending twin is looked up in the same step, so that two producers never both make one.
  Sent twice, the answer is the same. Unlike the others it is refused when the store's memory is full: what it would make
  room for could not be added then.

    KEYS[i]   record of the i-th job's owner; :dedup, :late and :reap beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    then 7 for each key:
      the owner as written; the job; the owner's limit, '' for none, 0 for one who would only be left to a twin;
      strategy: '' for none, skip, replace, coalesce; digest of the key; the payload for replace and coalesce;
      the epoch that the owner must have, '' for whatever it has (what belongs to something that was begun earlier is
      void when the owner was cancelled since)

  Answers for each: {'new', epoch, at}, with 'again' behind it when the job had its place already;
  {'replace', replaced, epoch, at}, likewise; {'skip', twin, epoch, at}, {'coalesce', twin, epoch, at};
  {'moved'}, {'closed'}, {'reaping'}, {'full', how many}, or {'error', text}.
]]
-- How many fields a record has beside its index.
local META = 6
local STRATEGIES = { [''] = true, skip = true, replace = true, coalesce = true }

--- @include each
local now = clock(ARGV[1])

local function reserve(record, at)
  local owner, job, limit = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local strategy, key, payload, expected = ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], ARGV[at + 6]

  if not STRATEGIES[strategy] then
    error('unknown strategy: ' .. strategy, 0)
  end
  if limit ~= '' then
    limit = number(limit)
  end

  local known = redis.call('HMGET', record, 'e', 's', 'v', 'l', 'j' .. job)
  local epoch, state, counter, last, entry = known[1], known[2], number(known[3] or '0'), known[4], known[5]
  if expected ~= '' and expected ~= epoch then
    return { 'moved' }
  end
  if state == 'closed' then
    return { 'closed' }
  end
  -- A job of that id ended, and is just being removed with what it left: a new one must not lose its own to that.
  if redis.call('HEXISTS', record .. ':reap', job) == 1 then
    return { 'reaping' }
  end
  local entryEpoch, reservedAt, replaced = string.match(entry or '', '^(%d+)|(%d+)|%d+|[^|]*|?(.*)$')
  if entryEpoch and entryEpoch == epoch then
    if replaced ~= '' then
      return { 'replace', replaced, epoch, reservedAt, 'again' }
    end
    return { 'new', epoch, reservedAt, 'again' }
  end

  local twin, twinPlace
  if strategy ~= '' then
    local held = redis.call('HGET', record .. ':dedup', key)
    local heldEpoch, heldJob = string.match(held or '', '^(%d+)|(.+)$')
    -- An entry of an older epoch, or of a job that is in no index any more, holds nothing.
    if heldEpoch and heldEpoch == epoch and heldJob ~= job then
      twinPlace = string.match(redis.call('HGET', record, 'j' .. heldJob) or '', '^' .. epoch .. '|%d+(|.*)$')
      twin = twinPlace and heldJob
    end
  end
  if strategy == 'coalesce' or strategy == 'replace' then
    redis.call('HLEN', record .. ':late')
  end

  if twin and strategy ~= 'replace' then
    if strategy == 'coalesce' then
      redis.call('HSET', record .. ':late', twin, payload)
    end
    -- The owner was wanted now, and so was its twin: no sweep may take either for old.
    local place = epoch .. '|' .. whole(now) .. twinPlace
    local moved = last == whole(now) and counter or counter + 1
    redis.call('HSET', record, 'v', whole(moved), 'l', whole(now), 'j' .. twin, place)
    return { strategy, twin, epoch, whole(now) }
  end
  if limit ~= '' then
    local held = math.max(0, redis.call('HLEN', record) - META)
    if held >= limit then
      return { 'full', tostring(held) }
    end
  end

  if entry then
    -- The id was used before, under an epoch that is over; what it left then is not this job's.
    local hasResult = redis.call('HEXISTS', record .. ':done', job) == 1
    redis.call('HDEL', record .. ':late', job)
    if hasResult then
      redis.call('HDEL', record .. ':done', job)
    end
  end
  local isNew = not epoch
  -- From the clock, so that an owner that was forgotten never gets an epoch it had before.
  epoch = epoch or whole(now * 1000)
  local place = epoch .. '|' .. whole(now) .. '|0|' .. (twin and '|' .. twin or '')
  local written = { 'v', whole(counter + 1), 'l', whole(now), 'j' .. job, place }
  if isNew then
    redis.call('HSET', record, 'e', epoch, 'o', owner, 'n', '0', 's', 'open', unpack(written))
  else
    redis.call('PERSIST', record)
    redis.call('HSET', record, unpack(written))
  end
  if strategy ~= '' then
    redis.call('HSET', record .. ':dedup', key, epoch .. '|' .. job)
  end
  if twin then
    -- If the producer dies before it adds the job, whoever finds it adds it with this.
    redis.call('HSET', record .. ':late', job, payload)
    return { 'replace', twin, epoch, whole(now) }
  end
  return { 'new', epoch, whole(now) }
end

return each(reserve, 2, 7)
