--[[
  requeue: a run gives its job back: to try again at once or later, to wait for its children, or because the queue is limited.
  The job keeps its place in the index and frees its slots; if an owner was cancelled, it ends instead.

    KEYS, ARGV  those of BullMQ's script, and last: job, token, timestamp, its name, prefix of the queue, root
  Answers what BullMQ's script does, with what was refused at the gate as fifth; or 'cancelled'.
]]
local last = #ARGV
local job, token, timestamp, name, prefix = ARGV[last - 5], ARGV[last - 4], ARGV[last - 3], ARGV[last - 2], ARGV[last - 1]
root = ARGV[last]
local ref = refOf(prefix, job)
local mark = markOfJob(prefix, job)

if mark and not allCurrent(mark, ref) then return endCancelled(prefix, job, timestamp, token, mark, ref) end

local turns = beginFetching(prefix, timestamp)
if turns and name == 'retryJob' then turns[#turns + 1] = fair.read(prefix, job) end
local answer = bull[name](KEYS, ARGV)
if turns then fair.takeDue(prefix, turns) end
local stays = isError(answer) or (name == 'moveToWaitingChildren' and answer == 1)
if stays then return answer end
if mark then freeSlots(mark, ref) end
if mark and name ~= 'moveToWaitingChildren' then becomePending(mark, ref) end
if type(answer) ~= 'table' then return answer end
local run = { prefix = prefix, timestamp = timestamp, options = unpackMessage(ARGV[9]) }
return withRefused(run, throughGate(run, answer))
