-- What BullMQ's texts find in place of the global libraries: a table that is given as packed text is taken as it is, and options
-- that came as JSON text are stored as that text.

local unpackMessage, encodeJson = cmsgpack.unpack, cjson.encode
local textOfOptions = {}

-- The options that a script of BullMQ's has stored last: of a job that exists already it stores none.
local storedOptions

local cmsgpack = {
  pack = cmsgpack.pack,
  unpack = function(given)
    if type(given) == 'table' then return given end
    return unpackMessage(given)
  end,
}

local cjson = {
  null = cjson.null,
  decode = cjson.decode,
  encode = function(value)
    local text = textOfOptions[value]
    if not text then return encodeJson(value) end
    storedOptions = value
    return text
  end,
}

-- A helper of BullMQ's that a step calls for each of its jobs, and that has nothing new to do or to say when it is called again with the
-- same first arguments.
local function once(helper)
  local answersByKey = {}
  return function(key, second, ...)
    local answers = answersByKey[key]
    if not answers then
      answers = {}
      answersByKey[key] = answers
    end
    local case = second == nil or second
    if answers[case] == nil then answers[case] = helper(key, second, ...) or false end
    return answers[case]
  end
end

-- The same for helpers that look whether a queue is paused or has reached its limit of running jobs: with such a limit their number
-- changes within a step, nothing else does.
local function onceUnlimited(helper)
  local answers = {}
  return function(metaKey, ...)
    if not answers[metaKey] then
      if redis.call('HEXISTS', metaKey, 'concurrency') == 1 then return helper(metaKey, ...) end
      answers[metaKey] = { helper(metaKey, ...) }
    end
    return unpack(answers[metaKey], 1, 3)
  end
end

-- The score of the next prioritized job that BullMQ's text adds, if it is not for BullMQ's counter to say.
local nextScore

local function unlessGiven(helper)
  return function(...)
    local given = nextScore
    if not given then return helper(...) end
    nextScore = nil
    return given
  end
end

-- Where the job was that was removed last. BullMQ's text looks into five sets, one after the other; most often the next job is where
-- the one before it was.
local removedFrom = 'prioritized'

local function leaveSameSet(prefix, job)
  local isSet = removedFrom == 'prioritized' or removedFrom == 'delayed'
  return isSet and redis.call('ZREM', prefix .. removedFrom, job) == 1
end

local function inTheSameSet(helper)
  return function(prefix, job)
    if not leaveSameSet(prefix, job) then removedFrom = helper(prefix, job) end
    return removedFrom
  end
end

-- Calls of BullMQ's helpers that wait for the end of a step of many runs. Nothing waits in a step that does not ask for it.
local atEnd

-- A helper of BullMQ's that does at the end of a step what it would do after each run: the jobs that it removes are the same.
local function lastly(helper)
  return function(...)
    if not atEnd then return helper(...) end
    local call = table.concat({ ... }, ' ')
    if atEnd[call] then return end
    atEnd[call], atEnd[#atEnd + 1] = true, { helper, ... }
  end
end

-- The runs of the step have ended: their answers must not be lost over an old job that cannot be removed. It is met again in the next step.
local function callWaiting()
  for _, call in ipairs(atEnd) do pcall(call[1], unpack(call, 2)) end
end

-- A table of functions that few steps need: they are made when one of them is first called.
local function whenUsed(make)
  return setmetatable({}, {
    __index = function(functions, name)
      setmetatable(functions, nil)
      make(functions)
      return functions[name]
    end,
  })
end

local makers = {}

-- BullMQ's own scripts, by their names. Each is a function that takes its KEYS and ARGV, and is made when a step first calls it.
local bull = setmetatable({}, {
  __index = function(scripts, name)
    local script = makers[name] and makers[name]()
    scripts[name] = script
    return script
  end,
})
