--[[
  list-jobs: a page of what stands in a list or sorted set of a queue, the newest first. Nothing is written. It costs what it reads, however
  long the list is.

    KEYS[1]  the list or sorted set
    ARGV[1]  root   [2] prefix of the queue   [3] what it is, as a word of READ   [4] how many   [5] a place: the page begins behind it; '' to begin
    ARGV[6]  hash that has a text for each id, instead of the fields of jobs; or ''   [7]… the ids, for READ.ids
  Answers for each entry {its place, its id, what factsOf answers, or the text}. A place stays valid when its entry is gone.
]]
root = ARGV[1]
local prefix, most, after = ARGV[2], tonumber(ARGV[4]), ARGV[5]
local TIED, NEAR = 1000, 500

-- In the order of the store: Lua compares texts in the order of a language.
local function isBelow(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- The rank, from the top, of the first entry behind a place of which the entry is gone.
local function rankBehind(score, id)
  local rank = redis.call('ZCOUNT', KEYS[1], '(' .. score, '+inf')
  local tied = redis.call('ZREVRANGEBYSCORE', KEYS[1], score, score, 'LIMIT', 0, TIED)
  for i, other in ipairs(tied) do
    if isBelow(other, id) then return rank + i - 1 end
  end
  return rank + #tied
end

local READ = {}

-- A place is <score> <id>.
function READ.set()
  local rank = 0
  if after ~= '' then
    local score, id = string.match(after, '^(%S+) (.*)$')
    local isThere = redis.call('ZSCORE', KEYS[1], id) == score
    rank = isThere and redis.call('ZREVRANK', KEYS[1], id) + 1 or rankBehind(score, id)
  end
  local page, entries = redis.call('ZREVRANGE', KEYS[1], rank, rank + most - 1, 'WITHSCORES'), {}
  for i = 1, #page, 2 do entries[#entries + 1] = { page[i + 1] .. ' ' .. page[i], page[i] } end
  return entries
end

-- When a job came to its list, as far as BullMQ knows.
local function timeOf(job)
  local field = string.find(KEYS[1], ':active$') and 'processedOn' or 'timestamp'
  return tonumber(redis.call('HGET', prefix .. job, field) or '0')
end

-- The index behind one of the ids, the last one that is still there; nil if none is near.
local function indexNear(index, ids)
  local from, at = math.max(0, index - NEAR), {}
  for i, id in ipairs(redis.call('LRANGE', KEYS[1], from, index + NEAR)) do at[id] = from + i end
  for id in string.gmatch(ids, '[^\n]+') do
    if at[id] then return at[id] end
  end
end

-- The index of the first job that came before a time. A list is nearly in the order of time.
local function indexBefore(time)
  local low, high = 0, redis.call('LLEN', KEYS[1])
  while low < high do
    local middle = math.floor((low + high) / 2)
    if timeOf(redis.call('LINDEX', KEYS[1], middle)) < time then high = middle else low = middle + 1 end
  end
  return low
end

-- A place is <index> <time> <id> and the two ids before it, each on a line: jobs come and go at both ends.
function READ.list()
  local index, ids = 0, ''
  if after ~= '' then
    local place, time, known = string.match(after, '^(%d+) (%d+) (.*)$')
    index, ids = indexNear(tonumber(place), known) or indexBefore(tonumber(time)), known
  end
  local entries = {}
  for i, job in ipairs(redis.call('LRANGE', KEYS[1], index, index + most - 1)) do
    ids = job .. '\n' .. (string.match(ids, '^[^\n]+\n[^\n]+') or ids)
    entries[i] = { whole(index + i - 1) .. ' ' .. whole(timeOf(job)) .. ' ' .. ids, job }
  end
  return entries
end

-- The jobs of these ids, in their order.
function READ.ids()
  local entries = {}
  for i = 7, #ARGV do entries[#entries + 1] = { ARGV[i], ARGV[i] } end
  return entries
end

local entries = READ[ARGV[3]]()
for _, entry in ipairs(entries) do
  entry[3] = ARGV[6] == '' and factsOf(prefix, entry[2]) or redis.call('HGET', ARGV[6], entry[2]) or ''
end
return entries
