--[[
  finish: runs have ended. A result counts only if the lock is the run's and no epoch of its owners has moved; the job leaves the
  index, its slots are free, and the next job comes through the gate, all in one step.

    KEYS[1]  any key of the queue, for its Cluster slot
    ARGV[1]  root
    ARGV[2]  prefix of the queue
    ARGV[3]  number of templates, then for each of them
      1 target   2 property of the result   3 '1' to fetch the next job   4 options of BullMQ's moveToFinished, JSON
      5 '1' if fields of the job are updated
    then for each run
      1 number of its template   2 id   3 timestamp   4 result   5 token   6 mark of the job; '' for none, '?' if it is not known
      fields to update and their values, JSON, if there are any

  Answers for each: what BullMQ's script does, with what was refused as fifth; 'cancelled' for a run whose owner was cancelled,
  which is ended and not kept; or {'error', text}.
]]
local TEMPLATE_WIDTH = 5

local function readTemplate(at)
  return {
    target = ARGV[at], property = ARGV[at + 1], fetchesNext = ARGV[at + 2], options = cjson.decode(ARGV[at + 3]), hasFields = ARGV[at + 4] == '1',
  }
end

local function finishAsBullMQ(keys, args, run, mark, ref)
  -- What waits for the slot is woken before the next job is fetched.
  local hasSlots = mark and needsSlots(mark)
  local fetchesNext = args[6] == '1'
  if hasSlots then args[6] = '0' end
  local answer = bull.moveToFinished(keys, args)
  if isError(answer) then return answer end
  if mark then leaveAllCurrent(mark, ref) end
  if hasSlots then
    freeSlots(mark, ref)
    if fetchesNext then answer = fetchNext(run) end
  end
  return withRefused(run, throughGate(run, answer))
end

local function markGiven(prefix, job, given)
  if given == '?' then return markOfJob(prefix, job) end
  return given ~= '' and readMark(given)
end

local function finishOne(template, at)
  local prefix, job, timestamp, token = ARGV[2], ARGV[at + 1], ARGV[at + 2], ARGV[at + 4]
  local mark, ref = markGiven(prefix, job, ARGV[at + 5]), refOf(prefix, job)
  if mark and not allCurrent(mark, ref) then return endCancelled(prefix, job, timestamp, token, mark, ref, ARGV[at + 3]) end
  template.options['token'] = token
  local args = { job, timestamp, template.property, ARGV[at + 3], template.target, template.fetchesNext, prefix, template.options,
    template.hasFields and cjson.decode(ARGV[at + 6]) or '' }
  local run = { prefix = prefix, timestamp = timestamp, options = template.options }
  return finishAsBullMQ(moveToFinishedKeys(prefix, job, template.target), args, run, mark, ref)
end

root, atEnd = ARGV[1], {}
local templates, answers = {}, {}
for i = 1, tonumber(ARGV[3]) do templates[i] = readTemplate(4 + (i - 1) * TEMPLATE_WIDTH) end
local at = 4 + #templates * TEMPLATE_WIDTH
local turns = beginFetching(ARGV[2], ARGV[at + 2])
while at <= #ARGV do
  local template = templates[tonumber(ARGV[at])]
  local ok, answer = pcall(finishOne, template, at)
  answers[#answers + 1] = ok and (answer or 0) or { 'error', type(answer) == 'table' and answer.err or tostring(answer) }
  at = at + (template.hasFields and 7 or 6)
end
if turns then fair.takeDue(ARGV[2], turns) end
writeNoted()
callWaiting()
return answers
