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

-- @param owners those of the job, each with its name
local function remember(owners, ref, reason)
  for _, owner in ipairs(owners) do
    rememberAll(owner.name, { msText(nowUs()) .. ' ' .. reason .. ' ' .. ref })
  end
end
