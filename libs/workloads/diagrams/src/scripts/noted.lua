--[[
  noted: records the job of the diagram.

    KEYS[1]   the diagram

    ARGV[1]   the claim under which it was enqueued
    ARGV[2]   the job
    ARGV[3]   its second owner, '' for none

  Answers ok; late if another claim began since, or the diagram is gone.
]]
local diagram = KEYS[1]
if redis.call('HGET', diagram, 'n') ~= ARGV[1] then
  return 'late'
end
-- A job that has begun may already have recorded its error.
if redis.call('HGET', diagram, 'job') ~= ARGV[2] then
  redis.call('HDEL', diagram, 'e')
end
redis.call('HSET', diagram, 'job', ARGV[2], 'by', ARGV[3])
redis.call('HDEL', diagram, 'u')
return 'ok'
