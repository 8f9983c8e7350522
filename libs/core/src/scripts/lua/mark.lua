--[[
  The mark: what a job carries of its owners, as the first of its options, `mooring`. `mark.ts` has the same format for TypeScript.

    <epoch>|<owner>|<start by, ms>|<key>|<limit>|<slot> and for each further owner |<epoch>|<owner>

  Empty parts: the job may start at any time, has no deduplication key, needs no slot. A slot with a rate is
  `<slot> <max>/<per, ms>`. Text is escaped: it holds no `|`, no space, and nothing that JSON escapes.
]]
local MARK, BEGIN, ANY_MARK = '^(%d+)|([^|]+)|(%d*)|([^|]*)|(%d*)|([^|]*)(.*)$', '{"mooring":"', '^{"mooring":"[^"]*"'

-- The jobs of one step have often the same mark. A mark is never changed.
local lastText, lastMark

local function readMark(text)
  if text == lastText then return lastMark end
  local epoch, owner, startBy, key, limit, slot, further = string.match(text, MARK)
  if not epoch then return nil end
  lastText, lastMark = text, { epoch = epoch, owner = owner, startBy = startBy, key = key, limit = limit, slot = slot, further = further }
  return lastMark
end

-- <key>|<limit>|<slot>
local function needsOf(mark)
  return mark.key .. '|' .. mark.limit .. '|' .. mark.slot
end

-- The owners of an argument, which joins their names by |.
local function ownersNamed(text)
  local isOne = text ~= '' and not string.find(text, '|', 1, true)
  if isOne then return { { name = text } } end
  local owners = {}
  for name in string.gmatch(text, '[^|]+') do owners[#owners + 1] = { name = name } end
  return owners
end

local function writeMark(owners, startBy, needs)
  local text = owners[1].epoch .. '|' .. owners[1].name .. '|' .. startBy .. '|' .. needs
  for i = 2, #owners do
    text = text .. '|' .. owners[i].epoch .. '|' .. owners[i].name
  end
  return text
end

-- The further owners of a mark, and the epochs they had: for epoch, owner in furtherOwners(mark) do
local function none() end

local function furtherOwners(mark)
  if mark.further == '' then return none end
  return string.gmatch(mark.further, '|(%d+)|([^|]+)')
end

local function ownersOfMark(mark)
  local owners = { { name = mark.owner, epoch = mark.epoch } }
  for epoch, owner in furtherOwners(mark) do owners[#owners + 1] = { name = owner, epoch = epoch } end
  return owners
end

-- The mark in the options of a job, or nothing.
local function markIn(options)
  if string.sub(options, 1, #BEGIN) ~= BEGIN then return nil end
  return readMark(string.sub(options, #BEGIN + 1, string.find(options, '"', #BEGIN + 1, true) - 1))
end

local function markOfJob(prefix, job)
  local options = redis.call('HGET', prefix .. job, 'opts')
  return options and markIn(options)
end

-- The options with this mark instead of the one they have, if any.
local function withMark(options, mark)
  local rest = string.gsub(options, ANY_MARK .. ',?', '{', 1)
  return '{"mooring":"' .. mark .. (rest == '{}' and '"' or '",') .. string.sub(rest, 2)
end

local function setMark(prefix, job, mark)
  local options = redis.call('HGET', prefix .. job, 'opts') or '{}'
  redis.call('HSET', prefix .. job, 'opts', withMark(options, mark))
end
