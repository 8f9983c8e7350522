-- How long what a change has left undone is left to whoever made it, ms.
local UNDONE = 30000

-- A list of texts. Anything else is an error, and is found before anything is written.
local function texts(json)
  local list = cjson.decode(json)
  for i = 1, type(list) == 'table' and #list or error('not a list: ' .. json, 0) do
    if type(list[i]) ~= 'string' then
      error('not a text: ' .. json, 0)
    end
  end
  return list
end

-- A change of its own: greater than all before it, also of an earlier schedule of that id.
local function nextChange(hash, now)
  return math.max(tonumber(redis.call('HGET', hash, 'b') or 0) + 1, now * 1000)
end

-- The schedule is looked at when it is due, or when a change is undone for too long; one with neither is gone.
local function lookLater(book, member, hash, now)
  local at = tonumber(redis.call('HGET', hash, 'n') or 'inf')
  for _, field in ipairs(redis.call('HKEYS', hash)) do
    if string.sub(field, 1, 1) == 'p' then
      at = math.min(at, now + UNDONE)
    end
  end
  if at == math.huge then
    redis.call('ZREM', book, member)
    redis.call('DEL', hash)
  else
    redis.call('ZADD', book, at, member)
  end
end
