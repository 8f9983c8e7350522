#!lua flags=allow-oom
--[[
  strike: removes a cancelled requester of the diagram. Without requesters the diagram is over.

    KEYS[1]   the diagram; :askers and :source beside it, in the same slot
    KEYS[2]   the due list of its diagrams, and of jobs to end

    ARGV[1]   the owner
    ARGV[2]   its current epoch: requests of that or a later epoch stay, because old cancels may be reported again
    ARGV[3]   time until other processes end its job if the caller dies, ms

  Answers {kept} if it was no requester, or has requested the diagram again; {some} if others remain; {none, job} with the job to
  end, or ''.
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
-- A process that is enqueueing a job for it finds its claim gone.
redis.call('HINCRBY', diagram, 'n', 1)
redis.call('HDEL', diagram, 'job', 'by', 'e', 'u', 'r', 'w')
redis.call('DEL', diagram .. ':source')
redis.call('ZREM', KEYS[2], string.match(diagram, '[^:]+$'))
if job ~= '' then
  redis.call('ZADD', KEYS[2], clock() + tonumber(ARGV[3]), job)
end
return { 'none', job }
