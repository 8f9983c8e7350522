--[[
  change: creates, updates or deletes an entity, and makes its site due, in one step.

  If the process dies after it, nothing is lost: the site stays due until readers get a build of this version.

    KEYS[1]   the site; :entities and :index beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the entity, <type>/<id>
    ARGV[2]   its JSON, or '' to delete it
    ARGV[3]   1 if it requests a build
    ARGV[4]   limit of entities per site; ARGV[5] limit of bytes
    ARGV[6]   time until the site is due, unless it is due sooner already, ms

  Answers {created|updated|deleted, version}, {full, 'entities'|'bytes'}, {absent}, or {gone} if there is no such site.
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
