--[[
  tidy: trim a stream that one group reads.

  Removes acknowledged entries up to the oldest pending one, and consumers without entries that have been idle for long.
  Checking and deleting a consumer must be atomic: deleting one that was given an entry in between would lose the entry.

    KEYS[1]   the stream

    ARGV[1]   the group
    ARGV[2]   idle time after which a consumer is removed, ms
    ARGV[3]   a consumer that leaves now, or ''

  Returns {removed entries, removed consumers}. Bounded: the next call removes the rest.
]]
local TRIM_LIMIT = 10000

local stream, name, silentFor, leaving = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]

local function fields(flat)
  local found = {}
  for i = 1, #flat, 2 do
    found[flat[i]] = flat[i + 1]
  end
  return found
end

local group
for _, flat in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
  local one = fields(flat)
  if one['name'] == name then
    group = one
  end
end
if not group then
  return { 0, 0 }
end

local gone = 0
for _, flat in ipairs(redis.call('XINFO', 'CONSUMERS', stream, name)) do
  local consumer = fields(flat)
  if consumer['pending'] == 0 and (consumer['name'] == leaving or consumer['idle'] > silentFor) then
    redis.call('XGROUP', 'DELCONSUMER', stream, name, consumer['name'])
    gone = gone + 1
  end
end

local last, pending = group['last-delivered-id'], redis.call('XPENDING', stream, name)
local keepFrom = pending[1] > 0 and pending[2] or last
-- Trimming whole nodes first is cheap. The rest is less than one node.
local trimmed = redis.call('XTRIM', stream, 'MINID', '~', keepFrom, 'LIMIT', TRIM_LIMIT)
if trimmed < TRIM_LIMIT / 2 then
  trimmed = trimmed + redis.call('XTRIM', stream, 'MINID', keepFrom)
  if pending[1] == 0 then
    trimmed = trimmed + redis.call('XDEL', stream, last)
  end
end
return { trimmed, gone }
