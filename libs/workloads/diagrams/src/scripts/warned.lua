--[[
  warned: what the picture that the diagram's job has just drawn lacks of its source. It is written before the picture counts.

    KEYS[1]   the diagram

    ARGV[1]   the job
    ARGV[2]   the warnings, as JSON

  Answers ok, or other when it is not the diagram's job any more: then nothing is written.
]]
if redis.call('HGET', KEYS[1], 'job') ~= ARGV[1] then
  return 'other'
end
redis.call('HSET', KEYS[1], 'w', ARGV[2])
return 'ok'
