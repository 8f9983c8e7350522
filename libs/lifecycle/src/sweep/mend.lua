#!lua flags=allow-oom
--[[
  sweep: takes out of what an owner has what nobody else will take out any more. Each thing goes only if it is still what it was
  seen to be, so a newer one is never taken for it.

    KEYS[1]   record of the owner; :runs, :dedup, :late and :done beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   how long the record of an owner is kept without jobs, ms; ARGV[3] the same for a closed one
    then 3 for each thing:
      place  the job; its place as it was read      unless a run of it holds a lease
      dedup  the digest of the key; the entry       unless the entry's job has a place, of the owner's epoch
      late   the job; ''                            unless it has a place
      done   the job; ''                            likewise
      run    the job and the run's token; ''        once its lease is over, unless its job's newest run is this

  Answers how many went.
]]
local META = 6

--- @include each
local FIRST, WIDTH = 4, 3
if #ARGV < FIRST or (#ARGV - FIRST + 1) % WIDTH ~= 0 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, keep, keepClosed = clock(ARGV[1]), number(ARGV[2]), number(ARGV[3])
local record = KEYS[1]
local runs, dedup, late, done = record .. ':runs', record .. ':dedup', record .. ':late', record .. ':done'
for _, hash in ipairs({ record, dedup, late, done }) do
  redis.call('HLEN', hash)
end
redis.call('ZCARD', runs)
local epoch = redis.call('HGET', record, 'e')

local function placeOf(job)
  return redis.call('HGET', record, 'j' .. job)
end

local MEND = {}

function MEND.place(job, seen)
  local holder = string.match(seen, '^%d+|%d+|%d+|([^|]*)')
  local run = job .. '|' .. (holder or '')
  if placeOf(job) ~= seen or tonumber(redis.call('ZSCORE', runs, run) or 0) > now then
    return 0
  end
  redis.call('HDEL', late, job)
  redis.call('HDEL', done, job)
  redis.call('ZREM', runs, run)
  return redis.call('HDEL', record, 'j' .. job)
end

function MEND.dedup(key, seen)
  local entryEpoch, job = string.match(seen, '^(%d+)|(.+)$')
  if redis.call('HGET', dedup, key) ~= seen or (entryEpoch == epoch and placeOf(job)) then
    return 0
  end
  return redis.call('HDEL', dedup, key)
end

function MEND.late(job)
  return placeOf(job) and 0 or redis.call('HDEL', late, job)
end

function MEND.done(job)
  return placeOf(job) and 0 or redis.call('HDEL', done, job)
end

function MEND.run(run)
  local job, token = string.match(run, '^(.*)|([^|]*)$')
  local heldUntil = redis.call('ZSCORE', runs, run)
  local holder = string.match(placeOf(job or '') or '', '^%d+|%d+|%d+|([^|]*)')
  if not heldUntil or tonumber(heldUntil) > now or holder == token then
    return 0
  end
  return redis.call('ZREM', runs, run)
end

for at = FIRST, #ARGV, WIDTH do
  if not MEND[ARGV[at]] then
    return redis.error_reply('ERR unknown thing: ' .. ARGV[at])
  end
end
local mended = 0
for at = FIRST, #ARGV, WIDTH do
  mended = mended + MEND[ARGV[at]](ARGV[at + 1], ARGV[at + 2])
end
local isIdle = epoch and redis.call('HLEN', record) <= META
if mended > 0 and isIdle and redis.call('EXISTS', record .. ':schedules') == 0 then
  redis.call('PEXPIRE', record, redis.call('HGET', record, 's') == 'open' and keep or keepClosed)
end
return mended
