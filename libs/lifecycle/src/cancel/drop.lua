#!lua flags=allow-oom
--[[
  cancel: these jobs are gone from their queues and leave the owner's index; the cancel's receipt counts each once, in the
  same step, however often they are dropped: not one whose run it was told of, which counts as that.

  Only what the cancel ended is dropped, never a newer life of a job's id, nor a job whose run still holds its lease.

    KEYS[1]   record of the owner; :runs, :dedup, :late, :done, :history and :cancel:<cancelId> beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   how long the record of an owner is kept without jobs, ms; ARGV[3] the same for a closed one
    ARGV[4]   digest of the cancelId; ARGV[5] the epoch up to which jobs are over, 0 for a single job
    ARGV[6]   how many lines of history are kept; ARGV[7] for how long, ms
    then 4 for each job:
      the job; what it counts as, `<queue>|<state>`, '' for nothing; digest of its deduplication key, '' for none; its line
      of history, '' for none

  Answers how many were dropped.
]]
local META = 6

--- @include each
local FIRST, WIDTH = 8, 4
if #ARGV < FIRST or (#ARGV - FIRST + 1) % WIDTH ~= 0 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, keep, keepClosed = clock(ARGV[1]), number(ARGV[2]), number(ARGV[3])
local upTo, lines, linesKeep = number(ARGV[5]), number(ARGV[6]), number(ARGV[7])
local record, receipt = KEYS[1], KEYS[1] .. ':cancel:' .. ARGV[4]
local runs, history = record .. ':runs', record .. ':history'
local isKept = redis.call('HEXISTS', receipt, 'e') == 1
for _, hash in ipairs({ record, record .. ':dedup', record .. ':late', record .. ':done' }) do
  redis.call('HLEN', hash)
end
redis.call('ZCARD', runs)
redis.call('LLEN', history)

local dropped = 0
for at = FIRST, #ARGV, WIDTH do
  local job, counts, key, line = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local entry = redis.call('HGET', record, 'j' .. job)
  local epoch, fence, holder = string.match(entry or '', '^(%d+)|%d+|(%d+)|([^|]*)')
  local run = job .. '|' .. (holder or '')
  local heldUntil = tonumber(redis.call('ZSCORE', runs, run) or 0)
  if epoch and tonumber(epoch) <= upTo and heldUntil <= now then
    local held = key ~= '' and redis.call('HGET', record .. ':dedup', key)
    redis.call('HDEL', record .. ':late', job)
    redis.call('HDEL', record .. ':done', job)
    redis.call('HDEL', record, 'j' .. job)
    redis.call('ZREM', runs, run)
    if held and string.match(held, '|(.+)$') == job then
      redis.call('HDEL', record .. ':dedup', key)
    end
    if isKept and counts ~= '' and redis.call('HEXISTS', receipt, 'run:' .. run) == 0 then
      redis.call('HINCRBY', receipt, 'n:' .. counts, 1)
    end
    if line ~= '' then
      redis.call('LPUSH', history, line)
    end
    dropped = dropped + 1
  end
end
if dropped > 0 then
  redis.call('LTRIM', history, 0, lines - 1)
  redis.call('PEXPIRE', history, linesKeep)
  if redis.call('HLEN', record) <= META and redis.call('EXISTS', record .. ':schedules') == 0 then
    redis.call('PEXPIRE', record, redis.call('HGET', record, 's') == 'open' and keep or keepClosed)
  end
end
return dropped
