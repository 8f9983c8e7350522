-- The keys that BullMQ's scripts take, in their order. `known-texts.ts` holds the digests of the texts for which this is true.

local function keysFor(prefix, names)
  local keys = {}
  for i, name in ipairs(names) do keys[i] = prefix .. name end
  return keys
end

local KEYS_OF = {
  addStandardJob = { 'wait', 'paused', 'meta', 'id', 'completed', 'delayed', 'active', 'events', 'marker' },
  addPrioritizedJob = { 'marker', 'meta', 'id', 'prioritized', 'delayed', 'completed', 'active', 'events', 'pc' },
  addDelayedJob = { 'marker', 'meta', 'id', 'delayed', 'completed', 'events' },
  addParentJob = { 'meta', 'id', 'delayed', 'waiting-children', 'completed', 'events' },
  changeDelay = { 'delayed', 'meta', 'marker', 'events' },
  changePriority = { 'wait', 'paused', 'meta', 'prioritized', 'active', 'pc', 'marker' },
  moveToActive = { 'wait', 'active', 'prioritized', 'events', 'stalled', 'limiter', 'delayed', 'paused', 'meta', 'pc', 'marker' },
  promote = { 'delayed', 'wait', 'paused', 'meta', 'prioritized', 'active', 'pc', 'events', 'marker' },
}

local function removeJobKeys(prefix, job)
  return { prefix .. job, prefix .. 'repeat' }
end

local function moveToDelayedKeys(prefix, job)
  return keysFor(prefix, { 'marker', 'active', 'prioritized', 'delayed', job, 'events', 'meta', 'stalled', 'wait', 'limiter', 'pc' })
end

local function moveToFinishedKeys(prefix, job, target)
  return keysFor(prefix, { 'wait', 'active', 'prioritized', 'events', 'stalled', 'limiter', 'delayed', 'paused', 'meta', 'pc', target, job,
    'metrics:' .. target, 'marker' })
end

-- BullMQ's scripts answer what went wrong with a negative number.
local function isError(answer)
  return type(answer) == 'number' and answer < 0
end
