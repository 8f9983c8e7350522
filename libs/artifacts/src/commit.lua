#!lua flags=allow-oom
--[[
  commit: make the artifacts of this run visible and hide those of other runs.

    KEYS[1]   manifest of the job

    ARGV[1]   the run's fence

  Returns ok, or none if the job has no artifacts.
]]
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'none'
end
redis.call('HSET', KEYS[1], 'c', ARGV[1])
return 'ok'
