--[[
  gone: deletes the site. Readers no longer see it; any process may clean up the rest.

    KEYS[1]   the site; :entities and :index beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   time until it is due for clean-up, unless it is forgotten by then, ms
    ARGV[2]   the cancelId for its owner, the same for every process that continues the deletion

  Answers ok, or absent.
]]
--- @include clock
local site, due = KEYS[1], KEYS[2]
if redis.call('EXISTS', site) == 0 or redis.call('HEXISTS', site, 'g') == 1 then
  return 'absent'
end
redis.call('HSET', site, 'g', ARGV[2])
redis.call('UNLINK', site .. ':entities', site .. ':index')
redis.call('ZADD', due, clock() + tonumber(ARGV[1]), string.match(site, '[^:]+$'))
return 'ok'
