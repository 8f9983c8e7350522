-- The store's clock, and numbers as text. A number above 2^53 does not occur: a time in µs stays below it until the year 2255.

local texts = {}

local function whole(number)
  local text = texts[number]
  if not text then
    text = string.format('%.0f', number)
    texts[number] = text
  end
  return text
end

local timeOfStep

-- It stands still within a step, also before Redis 7.0.
local function nowUs()
  if not timeOfStep then
    local time = redis.call('TIME')
    timeOfStep = tonumber(time[1]) * 1000000 + tonumber(time[2])
  end
  return timeOfStep
end

-- A time in µs as a text in ms.
local function msText(us)
  return whole(math.floor(us / 1000))
end
