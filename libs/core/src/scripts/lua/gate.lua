--[[
  The gate: a job that BullMQ has just handed out passes it in the same step, or it does not run. What may not run is ended by
  BullMQ's own script as a failure that is not kept; what has to wait for a slot is put aside by BullMQ's own script; the next one
  is fetched instead.
]]

-- The most jobs that are refused or put aside in one step.
local MOST_IN_ONE_STEP = 20

local function fieldOf(fields, name)
  for i = 1, #fields, 2 do
    if fields[i] == name then return fields[i + 1] end
  end
end

local function setField(fields, name, value)
  for i = 1, #fields, 2 do
    if fields[i] == name then fields[i + 1] = value end
  end
end

-- Why the job may not run, or nothing. No attempt begins when the time to start is over.
local function refusal(mark, ref)
  if not allCurrent(mark, ref) then return 'cancelled' end
  if mark.startBy ~= '' and nowUs() / 1000 > tonumber(mark.startBy) then return 'expired' end
end

local function endRefused(run, job, mark, ref, reason)
  count(mark, ref, 'refused')
  if reason == 'cancelled' then endSchedulerWith(run.prefix, job) end
  failUnkept(run.prefix, job, run.timestamp, run.options['token'], reason)
  forget(mark, ref, reason)
end

local function putAside(run, job, slot, ref)
  if standInLine(slot, ref) == 1 and slot.isNamed then logEvent(run.prefix, job, 'waiting-for-slot') end
  bull.moveToDelayed(moveToDelayedKeys(run.prefix, job),
    { run.prefix, run.timestamp, job, run.options['token'], slot.rate and rates.sleepMs(slot) or WAKE_BY_ITSELF_MS, '1', '', '0', '' })
  redis.call('HINCRBY', run.prefix .. job, 'ats', -1)
  if slot.rate then rates.wakeAhead(slot, ref) end
end

local function noteRefused(run, job, reason)
  run.refused = run.refused or {}
  run.refused[#run.refused + 1] = job .. ' ' .. reason
end

-- May the job run? If not, it is no longer with the worker. Its mark may be another one then: that is what the worker is given.
local function admits(run, job, mark, fields)
  local ref = refOf(run.prefix, job)
  local reason = refusal(mark, ref)
  if reason == 'cancelled' and entersAgain(run.prefix, job, mark, ref) then
    setField(fields, 'opts', redis.call('HGET', run.prefix .. job, 'opts'))
    reason = nil
  end
  -- A turn of a scheduler that comes too late is handed out all the same: its worker plans the next one, then ends it.
  if reason == 'expired' and schedulerOf(run.prefix, job) then
    noteRefused(run, job, 'late')
    return true
  end
  if reason then
    endRefused(run, job, mark, ref, reason)
    noteRefused(run, job, reason)
    return false
  end
  if needsSlots(mark) then
    local slot = missingSlot(mark, ref)
    if slot then
      putAside(run, job, slot, ref)
      return false
    end
  end
  -- From here on the job is no longer pending: the next trigger of its key makes a job of its own.
  leavePending(mark, ref)
  return true
end

-- A job that BullMQ has handed out and that does not run leaves the rate limit of its queue to the next.
local function uncount(run)
  local limiter = run.prefix .. 'limiter'
  if redis.call('EXISTS', limiter) == 1 then redis.call('DECR', limiter) end
end

local function fetchNext(run)
  return bull.moveToActive(keysOf('moveToActive', run.prefix), { run.prefix, run.timestamp, run.options })
end

-- The answer of BullMQ's script once its job has passed the gate, else the answer of the next fetch.
local function throughGate(run, answer)
  for turn = 1, MOST_IN_ONE_STEP do
    if type(answer) ~= 'table' or type(answer[1]) ~= 'table' then return answer end
    local options = fieldOf(answer[1], 'opts')
    local mark = options and markIn(options)
    if not mark or admits(run, answer[2], mark, answer[1]) then return answer end
    uncount(run)
    answer = turn < MOST_IN_ONE_STEP and fetchNext(run)
  end
  -- The worker comes again at once.
  redis.call('ZADD', run.prefix .. 'marker', 0, '0')
  return { 0, 0, 0, 0 }
end

-- What was refused stands behind what BullMQ's worker reads of an answer.
local function withRefused(run, answer)
  if not run.refused then return answer end
  if type(answer) ~= 'table' then answer = { 0, 0, 0, 0 } end
  answer[5] = run.refused
  return answer
end
