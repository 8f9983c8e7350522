#!lua flags=allow-oom
--[[
  enter: index an artifact that is about to be written or was written.

  Called before the bytes are written, so that there are never unindexed bytes, and again afterwards to complete the entry. If
  the artifacts of the job were removed in between, the first entry is gone and the caller must delete the bytes.

    KEYS[1]   index of jobs with artifacts
    KEYS[2]   manifest of the job

    ARGV[1]   the job; ARGV[2] the entry, <fence>/<id>
    ARGV[3]   the artifact as JSON; '' before its bytes are written
    ARGV[4]   how many entries a job may have

  Returns ok, full, or gone.
]]
local made, manifest = KEYS[1], KEYS[2]
local job, entry, what, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local isThere = redis.call('HEXISTS', manifest, entry) == 1
-- Fails on a key of the wrong type before anything is written.
redis.call('ZSCORE', made, job)
if what == '' then
  if not isThere and redis.call('HLEN', manifest) - redis.call('HEXISTS', manifest, 'n') >= most then
    return 'full'
  end
  redis.call('HSETNX', manifest, entry, '0|')
  redis.call('HSETNX', manifest, 'n', 0)
else
  if not isThere then
    return 'gone'
  end
  redis.call('HSET', manifest, entry, redis.call('HINCRBY', manifest, 'n', 1) .. '|' .. what)
end
redis.call('ZADD', made, now, job)
return 'ok'
