--[[
  record: what the diagram's job has found out: why it is about to fail, or what the picture that it has just drawn lacks of its
  source. It is written before the job fails, or the picture counts.

    KEYS[1]   the diagram

    ARGV[1]   the job
    ARGV[2]   the field: e or w
    ARGV[3]   its value, as JSON

  Answers ok, or other when the diagram has another job by now: then nothing is written.
]]
if redis.call('HGET', KEYS[1], 'job') ~= ARGV[1] then
  return 'other'
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 'ok'
