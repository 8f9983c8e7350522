#!lua flags=allow-oom
--[[
  strike: an owner that asked for the diagram is gone. With the last of them it is over.

    KEYS[1]   the diagram; :askers and :source beside it, in the same slot
    KEYS[2]   the list of diagrams to be tended, and of jobs to be ended

    ARGV[1]   the owner
    ARGV[2]   its epoch since: what it asked for under that one, or a later one, stays. Cancels are told again, also old ones
    ARGV[3]   how long from now its job is ended by others, should the caller not live to, ms

  Answers {kept} when it did not ask, or has asked anew; {some} when others want it still; {none, job} with what is to go, ''
  for no job.
]]
--- @include clock
local diagram = KEYS[1]
local epoch = redis.call('HGET', diagram .. ':askers', ARGV[1])
if not epoch or (tonumber(epoch) or 0) >= tonumber(ARGV[2]) then
  return { 'kept' }
end
redis.call('HDEL', diagram .. ':askers', ARGV[1])
if redis.call('EXISTS', diagram .. ':askers') == 1 then
  return { 'some' }
end
local job = redis.call('HGET', diagram, 'job') or ''
redis.call('HSET', diagram, 'g', clock())
-- Whoever is just enqueuing a job for it is too late.
redis.call('HINCRBY', diagram, 'n', 1)
redis.call('HDEL', diagram, 'job', 'by', 'e', 'u', 'r', 'w')
redis.call('DEL', diagram .. ':source')
redis.call('ZREM', KEYS[2], string.match(diagram, '[^:]+$'))
if job ~= '' then
  redis.call('ZADD', KEYS[2], clock() + tonumber(ARGV[3]), job)
end
return { 'none', job }
