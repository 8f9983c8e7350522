--[[
  finish: runs have ended. A result counts only if the lock is the run's and no epoch of its owners has moved; the job leaves the
  index, its slots are free, and the next job comes through the gate, all in one step.

    KEYS[1]  any key of the queue, for its Cluster slot
    ARGV[1]  root
    ARGV[2]  prefix of the queue
    then for each run what BullMQ's moveToFinished takes as ARGV
      1 id   2 timestamp   3 property of the result   4 result   5 target   6 fetch the next?   7 prefix   8 options   9 fields

  Answers for each: what BullMQ's script does, with what was refused as fifth; 'cancelled' for a run whose owner was cancelled,
  which is ended and not kept; or {'error', text}.
]]
local WIDTH = 9

local function finishAsBullMQ(keys, args, run, mark, ref)
  -- What waits for the slot is woken before the next job is fetched.
  local hasSlots = mark and needsSlots(mark)
  local fetchesNext = args[6] == '1'
  if hasSlots then args[6] = '0' end
  local answer = bull.moveToFinished(keys, args)
  if isError(answer) then return answer end
  if mark then leaveAll(mark, ref) end
  if hasSlots then
    freeSlots(mark, ref)
    if fetchesNext then answer = run.fetchNext() end
  end
  return withRefused(run, throughGate(run, answer))
end

local function finishOne(at)
  local args = {}
  for i = 1, WIDTH do args[i] = ARGV[at + i - 1] end
  local prefix, job = ARGV[2], args[1]
  local ref = refOf(prefix, job)
  local run = runOf(prefix, args[2], unpackMessage(args[8]))
  args[8] = run.options
  local mark = markOfJob(prefix, job)
  if mark and not allCurrent(mark, ref) then return endCancelled(prefix, job, args[2], run.options['token'], mark, ref) end
  return finishAsBullMQ(moveToFinishedKeys(prefix, job, args[5]), args, run, mark, ref)
end

root = ARGV[1]
local answers = {}
for at = 3, #ARGV, WIDTH do
  local ok, answer = pcall(finishOne, at)
  answers[#answers + 1] = ok and (answer or 0) or { 'error', type(answer) == 'table' and answer.err or tostring(answer) }
end
return answers
