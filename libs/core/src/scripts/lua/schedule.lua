--[[
  schedule: BullMQ's addJobScheduler. The first turn of a scheduler with owners is a job of these owners; a turn that it takes the place
  of leaves the index.

    KEYS, ARGV  those of BullMQ's addJobScheduler, and last: owners, joined by |, or ''; <key>|<limit>|<slot>; its name; prefix of the queue; root
  Answers what BullMQ's script does, {'closed', owner} or {'slot-limit', limit and rate of its key}.
]]
local last = #ARGV
root = ARGV[last]
local prefix, needs, owners = ARGV[last - 1], ARGV[last - 3], ownersNamed(ARGV[last - 4])

local _, closed = lookUp(owners, nowUs())
if closed then return { 'closed', closed } end
local limit = otherLimit(needs)
if limit then return { 'slot-limit', limit } end

local lastTurn = redis.call('HGET', KEYS[1] .. ':' .. ARGV[3], 'last')
local answer = bull.addJobScheduler(KEYS, ARGV)
if isError(answer) then return answer end
if lastTurn then redis.call('HSET', KEYS[1] .. ':' .. ARGV[3], 'last', lastTurn) end
forgetRemoved('rescheduled')
if #owners == 0 then return answer end
local job = answer[1]
-- Only now: the turn that it takes the place of may have been the last job of an owner, whose record is gone with it.
local at = lookUp(owners, nowUs())
claimLimit(needs)
moor(prefix, job, owners, at, startOfTurnBy(prefix, job, ARGV[6]), needs)
writeNoted()
return answer
