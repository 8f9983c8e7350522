-- The history of an owner: what was removed, and why; the newest first.
--   <root>~history~<owner>  list: <time, ms> <reason> <queue>:<id>
--   <root>~history-kept     how long, ms: as long as the receipts of cancels
--   <root>~gone~<queue>     hash: id -> a job that was removed, JSON; the newest of the queue, for as long
--   <root>~gone-at~<queue>  zset: the ids of these, by when they were removed, ms

local MOST_REMEMBERED = 1000
local REMEMBERED_FOR_MS = 7 * 24 * 3600 * 1000
local MOST_GONE = 10000
local MOST_LOGGED = 50

local function historyKept()
  return redis.call('GET', root .. '~history-kept') or REMEMBERED_FOR_MS
end

local function keepHistory(keepMs)
  if tonumber(historyKept()) ~= tonumber(keepMs) then redis.call('SET', root .. '~history-kept', keepMs) end
end

local function rememberAll(owner, entries)
  local key = root .. '~history~' .. owner
  redis.call('LPUSH', key, unpack(entries))
  redis.call('LTRIM', key, 0, MOST_REMEMBERED - 1)
  redis.call('PEXPIRE', key, historyKept())
end

-- @param owners those of the job, each with its name
local function remember(owners, ref, reason)
  for _, owner in ipairs(owners) do
    rememberAll(owner.name, { msText(nowUs()) .. ' ' .. reason .. ' ' .. ref })
  end
end

-- What is remembered of a job, read before BullMQ deletes it.
local function describe(prefix, job)
  return redis.call('HMGET', prefix .. job, 'name', 'timestamp', 'processedOn', 'atm')
end

-- The jobs that this step has removed, by their queues, until writeGone.
local gone = {}

local function keepGone(queue, job, text)
  local noted = gone[queue] or { lines = {}, times = {} }
  gone[queue] = noted
  for _, value in ipairs({ job, text }) do table.insert(noted.lines, value) end
  for _, value in ipairs({ msText(nowUs()), job }) do table.insert(noted.times, value) end
end

-- @param owners those of the job, each with its name
-- @param cancelId of its cancel; by default the one that its owner's record names
local function noteGone(ref, owners, known, reason, state, cancelId, why)
  local queue, job = string.match(ref, '^([^:]*):(.*)$')
  local names = {}
  for i, owner in ipairs(owners) do
    names[i] = owner.name
    if reason == 'cancelled' then cancelId = cancelId or redis.call('HGET', recordOf(owner.name), 'cancel') end
  end
  keepGone(queue, job, encodeJson({ msText(nowUs()), reason, state, table.concat(names, '|'), cancelId or '', why or '', unpack(known, 1, 4) }))
end

local function writeGone()
  for queue, noted in pairs(gone) do
    local lines, times = root .. '~gone~' .. queue, root .. '~gone-at~' .. queue
    for from, to in pagesOf(noted.lines) do
      redis.call('HSET', lines, unpack(noted.lines, from, to))
      redis.call('ZADD', times, unpack(noted.times, from, to))
      local over = redis.call('ZPOPMIN', times, math.max(0, redis.call('ZCARD', times) - MOST_GONE))
      for i = 1, #over, 2 do redis.call('HDEL', lines, over[i]) end
    end
    for _, key in ipairs({ lines, times }) do redis.call('PEXPIRE', key, historyKept()) end
  end
  gone = {}
end

-- The log of a job is BullMQ's. It says what happened beside what the job's fields say.
local function logEvent(prefix, job, event, why)
  local log = prefix .. job .. ':logs'
  local length = redis.call('RPUSH', log, encodeJson({ at = math.floor(nowUs() / 1000), event = event, why = why }))
  if length > MOST_LOGGED then redis.call('LTRIM', log, -MOST_LOGGED, -1) end
end
