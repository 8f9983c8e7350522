-- BullMQ's job schedulers. A scheduler has one turn at a time; the turn that runs plans the next one.

-- How many ended in this step.
local schedulersEnded = 0

local function removeScheduler(prefix, scheduler)
  schedulersEnded = schedulersEnded + 1
  bull.removeJobScheduler(keysOf('removeJobScheduler', prefix), { scheduler, prefix })
end

-- The turn that a scheduler has planned, or nothing.
local function turnOf(prefix, scheduler)
  local millis = redis.call('ZSCORE', prefix .. 'repeat', scheduler)
  return millis and 'repeat:' .. scheduler .. ':' .. millis
end

local function schedulerOf(prefix, job)
  return redis.call('HGET', prefix .. job, 'rjk')
end

-- A scheduler ends with the turn that would have planned the next one. Answers true if the job is gone with it.
local function endSchedulerWith(prefix, job)
  local scheduler = schedulerOf(prefix, job)
  if not scheduler or turnOf(prefix, scheduler) ~= job then return false end
  removeScheduler(prefix, scheduler)
  return redis.call('EXISTS', prefix .. job) == 0
end

-- Until when a turn may start: its time counts from the moment it is due.
-- @param packed its options, which keep `expiresIn` for the turns after it
local function startOfTurnBy(prefix, job, packed)
  local life = unpackMessage(packed)['expiresIn']
  if not life then return '' end
  local delay = redis.call('HGET', prefix .. job, 'delay') or 0
  return whole(math.floor(nowUs() / 1000) + tonumber(delay) + tonumber(life))
end
