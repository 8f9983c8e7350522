#!lua flags=allow-oom
--[[
  forget: the bytes of these entries are gone. A job of which nothing is left leaves the list.

    KEYS[1]   the list of jobs that have something
    KEYS[2]   manifest of the job

    ARGV[1]   the job
    then the entries whose bytes are gone

  Answers how many entries are left: somebody may be writing one just now.
]]
local made, manifest = KEYS[1], KEYS[2]
redis.call('ZSCORE', made, ARGV[1])
for i = 2, #ARGV do
  redis.call('HDEL', manifest, ARGV[i])
end
local left = 0
for _, field in ipairs(redis.call('HKEYS', manifest)) do
  if field ~= 'n' and field ~= 'c' then
    left = left + 1
  end
end
if left == 0 then
  redis.call('DEL', manifest)
  redis.call('ZREM', made, ARGV[1])
end
return left
