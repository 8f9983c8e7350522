--[[
  offer: records a complete build, to be published once its run counts.

  The run calls this before it counts, so that any process can publish the build if this one dies. The fence keeps a run that
  lost its lock from replacing the offer of its successor.

    KEYS[1]   the site; :offers beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the job
    ARGV[2]   the version of the site that it shows; ARGV[3] the run's fence
    ARGV[4]   time until the site is due, unless it is due sooner already, ms

  Answers ok, stale, or gone.
]]
--- @include clock
local site, due = KEYS[1], KEYS[2]
if redis.call('EXISTS', site) == 0 or redis.call('HEXISTS', site, 'g') == 1 then
  return 'gone'
end
local fence = string.match(redis.call('HGET', site .. ':offers', ARGV[1]) or '', '|(%d+)$')
if fence and tonumber(fence) > tonumber(ARGV[3]) then
  return 'stale'
end
redis.call('HSET', site .. ':offers', ARGV[1], ARGV[2] .. '|' .. ARGV[3])
redis.call('ZADD', due, 'LT', clock() + tonumber(ARGV[4]), string.match(site, '[^:]+$'))
return 'ok'
