--[[
  note-of-run: a run notes something with its job, unless the job has been taken from it.

    KEYS[1]  the job
    ARGV[1]  token   [2] name of the field   [3] value
  Answers 1, or 0 if the lock is not the run's.
]]
if redis.call('GET', KEYS[1] .. ':lock') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1
