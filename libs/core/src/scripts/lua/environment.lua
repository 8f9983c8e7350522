-- What BullMQ's texts find in place of the global libraries: a table that is given as packed text is taken as it is, and options
-- that came as JSON text are stored as that text.

local unpackMessage, encodeJson = cmsgpack.unpack, cjson.encode
local textOfOptions, optionsOfText = {}, {}

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
  encode = function(value) return textOfOptions[value] or encodeJson(value) end,
}

local function decodedOptions(text)
  if not optionsOfText[text] then
    local options = cjson.decode(text)
    optionsOfText[text], textOfOptions[options] = options, text
  end
  return optionsOfText[text]
end

-- BullMQ's own scripts, by their names. Each is a function that takes its KEYS and ARGV.
local bull = {}
