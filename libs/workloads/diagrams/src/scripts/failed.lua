--[[
  failed: why the diagram's job is about to fail.

    KEYS[1]   the diagram

    ARGV[1]   the job
    ARGV[2]   why, as JSON

  Answers ok, or other when it is not the diagram's job any more: then nothing is to be said.
]]
if redis.call('HGET', KEYS[1], 'job') ~= ARGV[1] then
  return 'other'
end
redis.call('HSET', KEYS[1], 'e', ARGV[2])
return 'ok'
