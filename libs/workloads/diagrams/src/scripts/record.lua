--[[
  record: records a result of the diagram's job before the job fails or its picture counts: the error, or the warnings about
  parts of the source that the picture lacks.

    KEYS[1]   the diagram

    ARGV[1]   the job
    ARGV[2]   the field: e or w
    ARGV[3]   its value, as JSON

  Answers ok, or other if the diagram has another job by now: then nothing is written.
]]
if redis.call('HGET', KEYS[1], 'job') ~= ARGV[1] then
  return 'other'
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 'ok'
