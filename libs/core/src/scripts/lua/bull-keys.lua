-- The keys that BullMQ's scripts take, in their order. `known-texts.ts` of libs/bullmq-scripts holds the digests of the texts for which this is true.
-- `*` stands for a key that depends on the job.

local KEYS_OF = {
  addStandardJob = 'wait paused meta id completed delayed active events marker',
  addPrioritizedJob = 'marker meta id prioritized delayed completed active events pc',
  addDelayedJob = 'marker meta id delayed completed events',
  addParentJob = 'meta id delayed waiting-children completed events',
  changeDelay = 'delayed meta marker events',
  moveToActive = 'wait active prioritized events stalled limiter delayed paused meta pc marker',
  moveToDelayed = 'marker active prioritized delayed * events meta stalled wait limiter pc',
  moveToFinished = 'wait active prioritized events stalled limiter delayed paused meta pc * * * marker',
  removeJobScheduler = 'repeat delayed events',
  reprocessJob = '* events * wait meta active marker prioritized pc',
  promote = 'delayed wait paused meta prioritized active pc events marker',
}

local made = {}

-- The keys of a queue for one of BullMQ's scripts. They are made once in a step.
local function keysOf(script, prefix)
  local id = script .. prefix
  local keys = made[id]
  if not keys then
    keys = {}
    for name in string.gmatch(KEYS_OF[script], '%S+') do keys[#keys + 1] = prefix .. name end
    made[id] = keys
  end
  return keys
end

local function moveToDelayedKeys(prefix, job)
  local keys = keysOf('moveToDelayed', prefix)
  keys[5] = prefix .. job
  return keys
end

local function moveToFinishedKeys(prefix, job, target)
  local keys = keysOf('moveToFinished', prefix)
  keys[11], keys[12], keys[13] = prefix .. target, prefix .. job, prefix .. 'metrics:' .. target
  return keys
end

local function reprocessJobKeys(prefix, job, state)
  local keys = keysOf('reprocessJob', prefix)
  keys[1], keys[3] = prefix .. job, prefix .. state
  return keys
end

local function removeJobKeys(prefix, job)
  return { prefix .. job, prefix .. 'repeat' }
end

-- BullMQ's scripts answer what went wrong with a negative number.
local function isError(answer)
  return type(answer) == 'number' and answer < 0
end
