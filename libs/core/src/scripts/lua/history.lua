-- The history of an owner: what was removed, and why; the newest first.
--   <root>~history~<owner>  list: <time, ms> <reason> <queue>:<id>
--   <root>~history-kept     how long, ms: as long as the receipts of cancels

local MOST_REMEMBERED = 1000
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

local function rememberFor(owner, entry)
  rememberAll(owner, { entry })
end

local function remember(mark, ref, reason)
  local entry = msText(nowUs()) .. ' ' .. reason .. ' ' .. ref
  rememberFor(mark.owner, entry)
  for _, owner in furtherOwners(mark) do
    rememberFor(owner, entry)
  end
end

-- For owners that are not in the mark of the job.
local function rememberForAll(owners, ref, reason)
  for _, owner in ipairs(owners) do
    rememberFor(owner.name, msText(nowUs()) .. ' ' .. reason .. ' ' .. ref)
  end
end
