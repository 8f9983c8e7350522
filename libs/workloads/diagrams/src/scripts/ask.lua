--[[
  ask: requests a diagram. While it has no job, one of the callers gets the claim to enqueue it.

    KEYS[1]   the diagram; :askers beside it, in the same slot
    KEYS[2]   the short link that it gets, if it has none
    KEYS[3]   the list of known diagrams

    ARGV[1]   its id
    ARGV[2]   that link
    ARGV[3]   type; ARGV[4] output
    ARGV[5]   the requesting owner, formatted; '' for a caller without an owner
    ARGV[6]   the epoch of that owner, '' for none
    ARGV[7]   retention, ms; ARGV[8] time limit of a claim, ms
    ARGV[9]   limit of known diagrams; a new one evicts the least recently requested
    ARGV[10]  limit of distinguished requesters; a further one counts as a caller without an owner

  Answers {ask, link, claim} to the caller that must enqueue it, {wait, link} while another does, {job, link, job} if it has one; or
  {taken} if another diagram has that link.
]]
--- @include clock
local diagram, link, keep = KEYS[1], ARGV[2], ARGV[7]
local links = string.gsub(KEYS[2], '[^:]+$', '')
local now = clock()

local function forget(id)
  local old = string.gsub(diagram, '[^:]+$', id)
  redis.call('DEL', links .. (redis.call('HGET', old, 'link') or ''), old, old .. ':askers', old .. ':source')
end

local known = redis.call('HMGET', diagram, 'link', 'job', 'u')

if not known[1] then
  if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', keep) then
    return { 'taken' }
  end
  redis.call('HSET', diagram, 'type', ARGV[3], 'output', ARGV[4], 'at', now, 'link', link, 'n', 0)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - tonumber(keep))
  if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[9]) then
    forget(redis.call('ZPOPMIN', KEYS[3])[1])
  end
else
  link = known[1]
  redis.call('PEXPIRE', links .. link, keep)
end
redis.call('ZADD', KEYS[3], now, ARGV[1])
local askers, asker, epoch = diagram .. ':askers', ARGV[5], ARGV[6]
if redis.call('HLEN', askers) >= tonumber(ARGV[10]) and redis.call('HEXISTS', askers, asker) == 0 then
  asker, epoch = '', ''
end
redis.call('HSET', askers, asker, epoch)
redis.call('HDEL', diagram, 'g')
redis.call('PEXPIRE', diagram, keep)
redis.call('PEXPIRE', diagram .. ':askers', keep)

if known[2] then
  return { 'job', link, known[2] }
end
if known[3] and tonumber(known[3]) > now then
  return { 'wait', link }
end
redis.call('HSET', diagram, 'u', now + tonumber(ARGV[8]))
return { 'ask', link, redis.call('HINCRBY', diagram, 'n', 1) }
