-- The history of an owner: what was removed, and why; the newest first.
--   <root>~history~<owner>  list: <time, ms> <reason> <queue>:<id>
--   <root>~history-kept     how long, ms: as long as the receipts of cancels
--   <root>~remembers-jobs   there if jobs that were removed are remembered as well:
--   <root>~gone~<queue>     hash: id -> one of them, as lines; the newest of the queue, for as long
--   <root>~gone-at~<queue>  zset: the ids of these, by when they were removed, ms

local MOST_REMEMBERED = 1000
local REMEMBERED_FOR_MS = 7 * 24 * 3600 * 1000
local MOST_GONE = 10000
local MOST_LOGGED = 50
local MOST_EVENTS = 20

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

local remembers

local function remembersJobs()
  if remembers == nil then remembers = redis.call('EXISTS', root .. '~remembers-jobs') == 1 end
  return remembers
end

-- What is remembered of a job, read before BullMQ deletes it; of one that has not ended and was tried before also the newest events of its log.
local function describe(prefix, job, hasEnded)
  if not remembersJobs() then return nil end
  local known, events = redis.call('HMGET', prefix .. job, 'name', 'timestamp', 'processedOn', 'atm'), {}
  if known[4] and not hasEnded then
    for _, line in ipairs(redis.call('LRANGE', prefix .. job .. ':logs', -MOST_EVENTS, -1)) do
      if string.find(line, '^{"at":%d+,"event"') then events[#events + 1] = line end
    end
  end
  known.events = #events > 0 and '[' .. table.concat(events, ',') .. ']'
  return known
end

-- The jobs that this step has removed, by their queues, until writeGone.
local gone = {}

local function keepGone(queue, job, text)
  local noted = gone[queue] or { lines = {}, times = {} }
  gone[queue] = noted
  local lines, times = noted.lines, noted.times
  lines[#lines + 1], lines[#lines + 2] = job, text
  times[#times + 1], times[#times + 2] = msText(nowUs()), job
end

-- @param owners those of the job, each with its name
-- @param cancelId of its cancel; by default the one that its owner's record names
local function noteGone(ref, owners, known, reason, state, cancelId, why)
  if not remembersJobs() then return end
  local names = owners[1] and owners[1].name or ''
  for i = 2, #owners do names = names .. '|' .. owners[i].name end
  for _, owner in ipairs(owners) do
    if reason == 'cancelled' and not cancelId then cancelId = redis.call('HGET', recordOf(owner.name), 'cancel') end
  end
  local queue, job = string.match(ref, '^([^:]*):(.*)$')
  keepGone(queue, job, msText(nowUs()) .. '\n' .. reason .. '\n' .. state .. '\n' .. names .. '\n' .. (cancelId or '') .. '\n'
    .. (known[1] or '') .. '\n' .. (known[2] or '') .. '\n' .. (known[3] or '') .. '\n' .. (known[4] or '') .. '\n' .. (known.events or '') .. '\n'
    .. (why or ''))
end

local function forgetOldest(lines, times)
  local over, ids = redis.call('ZPOPMIN', times, math.max(0, redis.call('ZCARD', times) - MOST_GONE)), {}
  for i = 1, #over, 2 do ids[#ids + 1] = over[i] end
  for from, to in pagesOf(ids) do redis.call('HDEL', lines, unpack(ids, from, to)) end
end

local function writeGone()
  for queue, noted in pairs(gone) do
    local lines, times = root .. '~gone~' .. queue, root .. '~gone-at~' .. queue
    for from, to in pagesOf(noted.lines) do
      redis.call('HSET', lines, unpack(noted.lines, from, to))
      redis.call('ZADD', times, unpack(noted.times, from, to))
    end
    forgetOldest(lines, times)
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
