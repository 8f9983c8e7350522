--[[
  wait-all: BullMQ's moveJobsToWait, a page at a time. Jobs that have ended wait again, under the present epochs of their owners; those
  of a closed owner, or with another waiting job of their deduplication key, stay as they are. Delayed jobs wait at once, unless they wait for their slot.

    KEYS, ARGV  those of BullMQ's moveJobsToWait, and behind them how many jobs were passed over before, its name, prefix of the queue, root
  Answers {1 if there may be more, how many jobs were passed over until now}.
]]
local JOBS_IN_ONE_STEP = 100

local prefix, passedOver = ARGV[#ARGV - 1], tonumber(ARGV[#ARGV - 3])
local count, upTo, state = tonumber(ARGV[1]), ARGV[2], ARGV[3]
root = ARGV[#ARGV]

local function pageOf(most)
  return redis.call('ZRANGEBYSCORE', KEYS[3], 0, upTo, 'LIMIT', passedOver, most)
end

local function promote(job, mark)
  if mark and isInLine(mark, refOf(prefix, job)) then return false end
  return bull.promote(keysOf('promote', prefix), { prefix, job }) == 0
end

local function retry(job, mark)
  return retryEnded(prefix, job, mark, state, 'LPUSH', '0') == 1
end

local function hasOwners(jobs)
  for _, job in ipairs(jobs) do
    if markOfJob(prefix, job) then return true end
  end
  return false
end

if passedOver == 0 and not hasOwners(pageOf(count)) then return { bull.moveJobsToWait(KEYS, ARGV), 0 } end

local most = math.min(count, JOBS_IN_ONE_STEP)
local page = pageOf(most)
for _, job in ipairs(page) do
  local move = state == 'delayed' and promote or retry
  if not move(job, markOfJob(prefix, job)) then passedOver = passedOver + 1 end
end
writeNoted()
return { #page == most and 1 or 0, passedOver }
