--[[
  gone: the site is deleted. From here on it is not to be seen; what is left is tidied up, by whoever lives.

    KEYS[1]   the site; :entities and :index beside it, in the same slot
    KEYS[2]   the list of sites to be tended

    ARGV[1]   how long from now it is tended, unless it was forgotten by then, ms
    ARGV[2]   the cancelId by which its owner is cancelled: the same for whoever goes on with it

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
