--[[
  offer: lists a complete build whose run is about to complete its job. Any process publishes it then, also if this one dies.

    KEYS[1]   the site; :offers beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the job
    ARGV[2]   time until the site is due, unless it is due sooner already, ms

  Answers ok, or gone.
]]
--- @include clock
local site, due = KEYS[1], KEYS[2]
if redis.call('EXISTS', site) == 0 or redis.call('HEXISTS', site, 'g') == 1 then
  return 'gone'
end
redis.call('SADD', site .. ':offers', ARGV[1])
redis.call('ZADD', due, 'LT', clock() + tonumber(ARGV[2]), string.match(site, '[^:]+$'))
return 'ok'
