-- A whole number that was given. Anything else is an error, and is found before anything is written.
local function number(given)
  local value = tonumber(given)
  if not value or value % 1 ~= 0 then
    error('not a whole number: ' .. tostring(given), 0)
  end
  return value
end

-- Now, in ms: what the caller gave (only a test does), else the store's own clock, which is the same for everybody.
local function clock(given)
  if given ~= '' then
    return number(given)
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Whole numbers in full: Lua would write large ones as 1.7e+15, and %d cuts them to 32 bits where a long has no more.
local function whole(number)
  return string.format('%.0f', number)
end

-- The answers of a step for every key. A step reads all that it will write before it writes, so that one that meets a
-- value of the wrong type has written nothing; and it fails alone.
local function each(step, first, width)
  if #ARGV ~= first - 1 + #KEYS * width then
    return redis.error_reply('ERR wrong number of arguments for ' .. #KEYS .. ' keys')
  end
  local answers = {}
  for i, key in ipairs(KEYS) do
    local ok, answer = pcall(step, key, first + (i - 1) * width)
    answers[i] = ok and answer or { 'error', type(answer) == 'table' and answer.err or tostring(answer) }
  end
  return answers
end
