#!lua flags=allow-oom
--[[
  commit: what this run of the job has made is to be seen, and what others made is not.

    KEYS[1]   manifest of the job

    ARGV[1]   the run's fence

  Answers ok, or none when there is nothing to be seen.
]]
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'none'
end
redis.call('HSET', KEYS[1], 'c', ARGV[1])
return 'ok'
