#!lua flags=allow-oom
--[[
  enter: this artifact of a run is about to be written, or is there.

  Before its bytes, so that there are never bytes that nothing leads to; and after them, when it counts. Who is removing the
  job's artifacts meanwhile has taken the first entry away: then its bytes are not to stay.

    KEYS[1]   the list of jobs that have something
    KEYS[2]   manifest of the job

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   the job; ARGV[3] the entry, <fence>/<id>
    ARGV[4]   what it is, as JSON; '' when its bytes are yet to come
    ARGV[5]   how many entries a job may have

  Answers ok, full, or gone.
]]
local made, manifest = KEYS[1], KEYS[2]
local job, entry, what, most = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local isThere = redis.call('HEXISTS', manifest, entry) == 1
-- Read also when it need not be: a value of the wrong type must show before anything is written.
redis.call('ZSCORE', made, job)
if what == '' then
  local others = redis.call('HEXISTS', manifest, 'n') + redis.call('HEXISTS', manifest, 'c')
  if not isThere and redis.call('HLEN', manifest) - others >= most then
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
