--[[
  tidy: forget what nobody needs of a stream that one group reads.

  Entries that were acknowledged go, up to the oldest that was not. Consumers that hold nothing and have been silent for long
  go too. In one step with the look at them: a consumer that is given an entry in between would take it into oblivion.

    KEYS[1]   the stream

    ARGV[1]   the group
    ARGV[2]   for how long a consumer has been silent that is gone, ms
    ARGV[3]   a consumer that leaves now, or ''

  Answers {entries that went, consumers that went}. Bounded: of very many entries the rest goes the next time.
]]
local MANY = 10000

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
-- Whole nodes first, which costs little; what is left then is less than one of them.
local trimmed = redis.call('XTRIM', stream, 'MINID', '~', keepFrom, 'LIMIT', MANY)
if trimmed < MANY / 2 then
  trimmed = trimmed + redis.call('XTRIM', stream, 'MINID', keepFrom)
  if pending[1] == 0 then
    trimmed = trimmed + redis.call('XDEL', stream, last)
  end
end
return { trimmed, gone }
