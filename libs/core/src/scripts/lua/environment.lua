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

-- A helper of BullMQ's that a step calls for each of its jobs, and that has nothing to do after the first. It acts on its first key.
local function once(helper)
  local done = {}
  return function(key, ...)
    if done[key] then return end
    done[key] = true
    return helper(key, ...)
  end
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
