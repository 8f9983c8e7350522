-- What the scripts of a workload share whose keys all begin with one root: the root is KEYS[1], and the time is that of the store, ms.
local root = KEYS[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function order_key(digest)
  return root .. ':key:' .. digest
end

local function text(number)
  return string.format('%.0f', number)
end
