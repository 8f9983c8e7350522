--[[
  ask: somebody wants this diagram. Of all who ask while it has no job one is to see to it that it gets one.

    KEYS[1]   the diagram; :askers beside it, in the same slot
    KEYS[2]   the short link that it gets, if it has none

    ARGV[1]   its id
    ARGV[2]   that link
    ARGV[3]   type; ARGV[4] output
    ARGV[5]   who asks, as an owner is written; '' for nobody in particular
    ARGV[6]   the epoch of that owner, '' for none
    ARGV[7]   how long it is remembered, ms; ARGV[8] how long one has to enqueue its job, ms

  Answers {ask, link, turn} to who is to enqueue it, {wait, link} while another does, {job, link, job} when it has one; or
  {taken} when another diagram has that link.
]]
--- @include clock
local diagram, link, keep = KEYS[1], ARGV[2], ARGV[7]
local now = clock()
local known = redis.call('HMGET', diagram, 'link', 'job', 'u')

if not known[1] then
  if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', keep) then
    return { 'taken' }
  end
  redis.call('HSET', diagram, 'type', ARGV[3], 'output', ARGV[4], 'at', now, 'link', link, 'n', 0)
else
  link = known[1]
  redis.call('PEXPIRE', string.gsub(KEYS[2], '[^:]+$', link), keep)
end
redis.call('HSET', diagram .. ':askers', ARGV[5], ARGV[6])
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
