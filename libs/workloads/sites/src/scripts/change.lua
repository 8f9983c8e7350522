--[[
  change: an entity is created, updated or deleted, and that it was is written down, in one step.

  Whoever dies after it has lost nothing: the site is wanted at this version, and in the list of those that are tended, until
  readers get a build that shows it.

    KEYS[1]   the site; :entities and :index beside it, in the same slot
    KEYS[2]   the list of sites to be tended

    ARGV[1]   the entity, <type>/<id>
    ARGV[2]   what it is, as JSON; '' when it is deleted
    ARGV[3]   whether it asks for a build, 1
    ARGV[4]   how many entities a site may have; ARGV[5] how many bytes
    ARGV[6]   how long from now the site is tended, unless it is sooner already, ms

  Answers {created|updated|deleted, version}, {full, 'entities'|'bytes'}, {absent}, or {gone} when there is no such site.
]]
--- @include clock
local site, due = KEYS[1], KEYS[2]
local entity, what, asks = ARGV[1], ARGV[2], ARGV[3] == '1'

local known = redis.call('HMGET', site, 'v', 'n', 'b', 'g')
if not known[1] or known[4] then
  return { 'gone' }
end
local count, bytes = tonumber(known[2]), tonumber(known[3])
local old = redis.call('HGET', site .. ':entities', entity)

local event = what == '' and 'deleted' or old and 'updated' or 'created'
if event == 'deleted' and not old then
  return { 'absent' }
end
local newBytes = bytes + #what - (old and #old or 0)
if event == 'created' and count >= tonumber(ARGV[4]) then
  return { 'full', 'entities' }
end
if newBytes > tonumber(ARGV[5]) and newBytes > bytes then
  return { 'full', 'bytes' }
end

if event == 'deleted' then
  redis.call('HDEL', site .. ':entities', entity)
  redis.call('ZREM', site .. ':index', entity)
  count = count - 1
else
  redis.call('HSET', site .. ':entities', entity, what)
  redis.call('ZADD', site .. ':index', 0, entity)
  count = old and count or count + 1
end
local version = tonumber(known[1]) + 1
redis.call('HSET', site, 'v', version, 'n', count, 'b', newBytes)
if asks then
  redis.call('HSET', site, 'w', version)
  redis.call('ZADD', due, 'LT', clock() + tonumber(ARGV[6]), string.match(site, '[^:]+$'))
end
return { event, version }
