#!lua flags=allow-oom
--[[
  cancel: everything that was enqueued for this owner up to now is over, or one job of it, with those below it in its flow.
  The point of no return.

  Moves the epoch, so that the gate refuses whatever was enqueued before, by whatever road it comes; of a single job, and of
  those below it that are this owner's too, the epoch in its place is moved, to 0. Removing jobs from their queues
  afterwards is tidiness: it is noted here as pending, with a receipt that counts it. The same cancelId again gets the same
  answer and moves nothing.

    KEYS[1]   record of the owner; :runs, :dedup, :cancels and :cancel:<cancelId> beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   digest of the cancelId
    ARGV[3]   1 to close the owner: what is enqueued later is refused until it is reopened; known to close it unless it has no
              record; 0
    ARGV[4]   the owner as written
    ARGV[5]   epoch and ARGV[6] reserve counter that the caller saw, '' for whatever they are (a sweep decides on what it
              saw; an enqueue in between makes its decision void)
    ARGV[7]   how long a receipt is kept, ms; ARGV[8] how long the record of a closed owner is kept, ms
    ARGV[9]   when that happened which this is about, ms, '' for now: an owner that was reopened since stays as it is
    ARGV[10]  the one job that is over, and those below it in its flow, with a space between; '' for all of the owner
    ARGV[11]  what the receipt says of this cancel, as JSON

  Answers {'cancelled', new epoch, epoch before, run, run, …} with each run as <job>|<token>, {'moved'}, {'full'}: it has no
  record, or {'late', epoch}. The runs are those that still live of what this cancelId ended, however late it is asked again; at most
  a thousand; of more the clean-up counts those that it meets. Of a single job both epochs are the current one, '' when
  the owner has no record.
]]
local META = 6
local MANY = 1000

--- @include each
if #ARGV ~= 11 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, receiptKeep, closedKeep = clock(ARGV[1]), number(ARGV[7]), number(ARGV[8])
local cancelId, owner, jobs, about = ARGV[2], ARGV[4], ARGV[10], ARGV[11]
local mustBeKnown = ARGV[3] == 'known'
local close = mustBeKnown or ARGV[3] == '1'
local sawEpoch, sawCounter, happenedAt = ARGV[5], ARGV[6], ARGV[9]
if happenedAt ~= '' then
  happenedAt = number(happenedAt)
end
local record, runs, pending = KEYS[1], KEYS[1] .. ':runs', KEYS[1] .. ':cancels'
local receipt = KEYS[1] .. ':cancel:' .. cancelId

local known = redis.call('HMGET', record, 'e', 'v', 's')
local epoch, counter, state = known[1], known[2], known[3]
local before = redis.call('HMGET', receipt, 'e', 'b')
local running = redis.call('ZRANGEBYSCORE', runs, '(' .. whole(now), '+inf', 'LIMIT', 0, MANY)
redis.call('HLEN', pending)

if before[1] then
  local told = {}
  for _, run in ipairs(running) do
    -- A job that was enqueued later is none of this cancel's business.
    if redis.call('HEXISTS', receipt, 'run:' .. run) == 1 then
      told[#told + 1] = run
    end
  end
  return { 'cancelled', before[1], before[2], unpack(told) }
end
if sawEpoch ~= '' and (sawEpoch ~= epoch or sawCounter ~= counter) then
  return { 'moved' }
end
local reopenedAt = string.match(state or '', '^open (%d+)$')
if happenedAt ~= '' and reopenedAt and happenedAt < tonumber(reopenedAt) then
  return { 'late', epoch }
end

if mustBeKnown and not epoch then
  return { 'full' }
end

local oldEpoch = epoch or '0'
local newEpoch = whole(math.max(tonumber(oldEpoch) + 1, now * 1000))
local upTo = oldEpoch
if jobs ~= '' then
  newEpoch, oldEpoch, upTo = epoch or '', epoch or '', 'j' .. jobs
  running = {}
  for one in string.gmatch(jobs, '%S+') do
    local place, holder = string.match(redis.call('HGET', record, 'j' .. one) or '', '^%d+(|%d+|%d+|([^|]*).*)$')
    local run = one .. '|' .. (holder or '')
    local score = holder and redis.call('ZSCORE', runs, run)
    if score and tonumber(score) > now then
      running[#running + 1] = run
    end
    if place then
      redis.call('HSET', record, 'j' .. one, '0' .. place)
    end
  end
else
  if not epoch then
    redis.call('HSET', record, 'v', '0', 'o', owner, 'n', '0', 's', 'open', 'l', '0')
  end
  redis.call('HSET', record, 'e', newEpoch)
  if close then
    redis.call('HSET', record, 's', 'closed')
  end
  -- Every twin it names is of an epoch that is over.
  redis.call('UNLINK', record .. ':dedup')
  if redis.call('HLEN', record) <= META then
    redis.call('PEXPIRE', record, closedKeep)
  end
end
redis.call('HSET', pending, cancelId, upTo)
redis.call('HSET', receipt, 'e', newEpoch, 'b', oldEpoch, 't', whole(now), 'a', about)
for _, run in ipairs(running) do
  redis.call('HSET', receipt, 'run:' .. run, 'told')
end
redis.call('PEXPIRE', receipt, receiptKeep)
return { 'cancelled', newEpoch, oldEpoch, unpack(running) }
