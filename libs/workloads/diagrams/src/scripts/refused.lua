--[[
  refused: gives back a claim after the queue refused the job. A diagram that never had a job is removed.

    KEYS[1]   the diagram; :askers beside it, in the same slot
    KEYS[2]   its short link
    KEYS[3]   the list of known diagrams

    ARGV[1]   the claim under which it was enqueued
    ARGV[2]   the requester, '' for a caller without an owner; or '-' to keep all requesters waiting

  Answers ok, or late if another claim began since.
]]
local diagram = KEYS[1]
if redis.call('HGET', diagram, 'n') ~= ARGV[1] then
  return 'late'
end
redis.call('HDEL', diagram, 'u')
redis.call('HDEL', diagram .. ':askers', ARGV[2])
if ARGV[1] == '1' and redis.call('EXISTS', diagram .. ':askers') == 0 then
  redis.call('DEL', diagram, KEYS[2])
  redis.call('ZREM', KEYS[3], string.match(diagram, '[^:]+$'))
end
return 'ok'
