-- The history of an owner: what was removed, and why; the newest first. Of the newest jobs of each queue it is kept what they were.
--   <root>~history~<owner>        list: <time, ms> <reason> <queue>:<id>
--   <root>~removed~<queue>        hash: job -> what it was, JSON; see owners/removals.ts
--   <root>~removed-order~<queue>  list: these jobs, the newest first
--   <root>~retired~<queue>, <root>~retired-order~<queue>  the same of jobs that had ended: there are far more of them
--   <root>~history-kept           how long, ms: as long as the receipts of cancels

local MOST_REMEMBERED = 1000
local MOST_REMOVED = 10000
local REMEMBERED_FOR_MS = 7 * 24 * 3600 * 1000

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

-- @param entries of each job: its id, and what it was
local function keepRemoved(list, queue, entries)
  local jobs, order = root .. '~' .. list .. '~' .. queue, root .. '~' .. list .. '-order~' .. queue
  redis.call('HSET', jobs, unpack(entries))
  for i = 1, #entries, 2 do redis.call('LPUSH', order, entries[i]) end
  for _ = MOST_REMOVED + 1, redis.call('LLEN', order) do redis.call('HDEL', jobs, redis.call('RPOP', order)) end
  for _, key in ipairs({ jobs, order }) do redis.call('PEXPIRE', key, historyKept()) end
end

-- What jobs were that this step removes, by <queue>:<id>: it is read before, and written after.
local lastSeen = {}

local function noteJob(prefix, job, state, cancelId)
  local known = redis.call('HMGET', prefix .. job, 'name', 'timestamp', 'processedOn', 'atm')
  local added, begun, attempts = tonumber(known[2] or ''), tonumber(known[3] or ''), tonumber(known[4] or '')
  lastSeen[refOf(prefix, job)] = { name = known[1] or '', added = added, begun = begun, attempts = attempts, state = state, cancelId = cancelId }
end

-- @param owners those of the job, each with its name
local function describeRemoved(byQueue, owners, ref, reason)
  local prefix, job = splitRef(ref)
  local queue, was, names = string.sub(prefix, #root + 2, -2), lastSeen[ref] or {}, {}
  for i, owner in ipairs(owners) do names[i] = owner.name end
  was.at, was.why, was.owners = tonumber(msText(nowUs())), reason, table.concat(names, '|')
  byQueue[queue] = byQueue[queue] or {}
  for _, value in ipairs({ job, encodeJson(was) }) do table.insert(byQueue[queue], value) end
end

local function remember(owners, ref, reason)
  for _, owner in ipairs(owners) do
    rememberAll(owner.name, { msText(nowUs()) .. ' ' .. reason .. ' ' .. ref })
  end
  local byQueue = {}
  describeRemoved(byQueue, owners, ref, reason)
  for queue, entries in pairs(byQueue) do keepRemoved('removed', queue, entries) end
end
