#!lua flags=allow-oom
--[[
  forget: remove entries whose bytes were deleted. A job without entries leaves the index.

    KEYS[1]   index of jobs with artifacts
    KEYS[2]   manifest of the job

    ARGV[1]   the job
    ARGV[2..] the entries

  Returns how many entries remain, because a run may be writing one.
]]
local made, manifest = KEYS[1], KEYS[2]
redis.call('ZSCORE', made, ARGV[1])
for i = 2, #ARGV do
  redis.call('HDEL', manifest, ARGV[i])
end
local left = redis.call('HLEN', manifest) - redis.call('HEXISTS', manifest, 'n')
if left == 0 then
  redis.call('DEL', manifest)
  redis.call('ZREM', made, ARGV[1])
end
return left
