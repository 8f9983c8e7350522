--[[
  offer: a run has written a whole build; it is to be shown as soon as that run counts.

  Before it counts, so that nobody has to live on to show it. A run that was overtaken does not speak for its job any more.

    KEYS[1]   the site; :offers beside it, in the same slot
    KEYS[2]   the list of sites to be tended

    ARGV[1]   the job
    ARGV[2]   the version of the site that it shows; ARGV[3] the run's fence
    ARGV[4]   how long from now the site is tended, unless it is sooner already, ms

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
