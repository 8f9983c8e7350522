--[[
  retry-jobs: a page of the jobs that have ended, the oldest first. Those that match wait again, under the present epochs of their
  owners; what is refused keeps its error.

    KEYS[1]  failed or completed
    ARGV[1]  root   [2] prefix of the queue   [3] failed or completed
    ARGV[4]  time and [5] id of the last job that was passed over; '' for the id to begin with the jobs of that time
    ARGV[6]  until this time, ms, or '' for all that have ended by now
    ARGV[7]  how many jobs are looked at   [8] how many are retried at most
    ARGV[9]  1 to count their attempts from 0   [10] name   [11] owner   [12] part of their failure; '' for any
  Answers {'next' or 'done', time and id of the last job that was passed over, until when, and the numbers of jobs that were seen,
  retried, refused by a closed owner, and refused because another job of their key waits}.
]]
root = ARGV[1]
local prefix, state, most = ARGV[2], ARGV[3], tonumber(ARGV[7])
local passed = { at = ARGV[4], id = ARGV[5] }
local untilMs = ARGV[6]
if untilMs == '' then untilMs = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or '0' end

-- What was passed over stays where it is, what was retried is gone: the next page begins behind the former.
local function firstRank()
  if passed.id ~= '' and redis.call('ZSCORE', KEYS[1], passed.id) == passed.at then return redis.call('ZRANK', KEYS[1], passed.id) + 1 end
  return redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. passed.at)
end

local function isOf(mark, owner)
  for _, each in ipairs(mark and ownersOfMark(mark) or {}) do
    if each.name == owner then return true end
  end
  return false
end

local function matches(known)
  local name, owner, reason = ARGV[10], ARGV[11], ARGV[12]
  if name ~= '' and known.name ~= name then return false end
  if owner ~= '' and not isOf(markIn(known.options), owner) then return false end
  return reason == '' or string.find(known.reason, reason, 1, true) ~= nil
end

local function retryListed(job, options)
  local push = string.find(options, '"lifo":true', 1, true) and 'RPUSH' or 'LPUSH'
  return retryEnded(prefix, job, markIn(options), state, push, ARGV[9])
end

local counts = { seen = 0, retried = 0, closed = 0, pending = 0 }

-- Answers true if the job waits again.
local function tryOne(job)
  local fields = redis.call('HMGET', prefix .. job, 'name', 'opts', 'failedReason')
  if not fields[2] or not matches({ name = fields[1], options = fields[2], reason = fields[3] or '' }) then return false end
  local answer = retryListed(job, fields[2])
  local outcome = type(answer) == 'table' and answer[1] or answer == 1 and 'retried'
  if outcome then counts[outcome] = counts[outcome] + 1 end
  return outcome == 'retried'
end

local rank = firstRank()
local page = redis.call('ZRANGE', KEYS[1], rank, rank + most - 1, 'WITHSCORES')
local isLast = #page < most * 2
for i = 1, #page, 2 do
  local isLater = tonumber(page[i + 1]) > tonumber(untilMs)
  if isLater or counts.retried == tonumber(ARGV[8]) then
    isLast = true
    break
  end
  counts.seen = counts.seen + 1
  if not tryOne(page[i]) then passed = { at = page[i + 1], id = page[i] } end
end
writeNoted()
return { isLast and 'done' or 'next', passed.at, passed.id, untilMs, counts.seen, counts.retried, counts.closed, counts.pending }
