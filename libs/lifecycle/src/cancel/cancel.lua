#!lua flags=allow-oom
--[[
  cancel: everything that was enqueued for this owner up to now is over. The point of no return.

  Moves the epoch, so that the gate refuses whatever was enqueued before, by whatever road it comes. Removing jobs from
  their queues afterwards is tidiness. The same cancelId again gets the same answer and moves nothing.

    KEYS[1]   record of the owner; :runs and :recent beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   cancelId
    ARGV[3]   1 to close the owner: what is enqueued later is refused until it is reopened
    ARGV[4]   the owner as written
    ARGV[5]   epoch and ARGV[6] reserve counter that the caller saw, '' for whatever they are (a sweep decides on what it
              saw; an enqueue in between makes its decision void)
    ARGV[7]   how long a cancelId is remembered, ms; ARGV[8] how long the record of a closed owner is kept, ms

  Answers {'cancelled', new epoch, epoch before, run, run, …} with each run as <job>|<token>, or {'moved'}. The runs are
  those that still live of what this cancelId ended, however late it is asked again; at most a thousand.
]]
local META = 6
local MANY = 1000

--- @include each
if #ARGV ~= 8 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, recentKeep, closedKeep = clock(ARGV[1]), number(ARGV[7]), number(ARGV[8])
local record, recent, runs = KEYS[1], KEYS[1] .. ':recent', KEYS[1] .. ':runs'
local cancelId, close, owner = ARGV[2], ARGV[3] == '1', ARGV[4]
local sawEpoch, sawCounter = ARGV[5], ARGV[6]

local known = redis.call('HMGET', record, 'e', 'v')
local epoch, counter = known[1], known[2]
local before = redis.call('HGET', recent, cancelId)
local running = redis.call('ZRANGEBYSCORE', runs, '(' .. whole(now), '+inf', 'LIMIT', 0, MANY)

if before then
  local newEpoch, oldEpoch = string.match(before, '^(%d+)|(%d+)$')
  local old = {}
  for _, run in ipairs(running) do
    local entry = redis.call('HGET', record, 'j' .. string.match(run, '^(.*)|'))
    local runEpoch = string.match(entry or '', '^%d+')
    -- A job that was enqueued later is none of this cancel's business.
    if runEpoch and tonumber(runEpoch) <= tonumber(oldEpoch) then
      old[#old + 1] = run
    end
  end
  return { 'cancelled', newEpoch, oldEpoch, unpack(old) }
end
if sawEpoch ~= '' and (sawEpoch ~= epoch or sawCounter ~= counter) then
  return { 'moved' }
end

local oldEpoch = epoch or '0'
local newEpoch = whole(math.max(tonumber(oldEpoch) + 1, now * 1000))
if not epoch then
  redis.call('HSET', record, 'v', '0', 'o', owner, 'n', '0', 's', 'open', 'l', '0')
end
redis.call('HSET', record, 'e', newEpoch)
if close then
  redis.call('HSET', record, 's', 'closed')
end
redis.call('HSET', recent, cancelId, newEpoch .. '|' .. oldEpoch)
redis.call('PEXPIRE', recent, recentKeep)
if redis.call('HLEN', record) <= META then
  redis.call('PEXPIRE', record, closedKeep)
end
return { 'cancelled', newEpoch, oldEpoch, unpack(running) }
