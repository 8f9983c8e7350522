--[[
  noted: the diagram has a job.

    KEYS[1]   the diagram

    ARGV[1]   whose turn it was to enqueue it
    ARGV[2]   the job
    ARGV[3]   the owner that it has beside the diagram, '' for none

  Answers ok; late when it was another's turn since, or the diagram is gone.
]]
local diagram = KEYS[1]
if redis.call('HGET', diagram, 'n') ~= ARGV[1] then
  return 'late'
end
redis.call('HSET', diagram, 'job', ARGV[2], 'by', ARGV[3])
redis.call('HDEL', diagram, 'u', 'e')
return 'ok'
