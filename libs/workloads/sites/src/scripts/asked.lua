--[[
  asked: a build was asked for, after all changes up to this version were written.

  It answers for them until it is over. Should they not be shown then, it is asked for another.

    KEYS[1]   the site; :builds beside it, in the same slot
    KEYS[2]   the list of sites to be tended

    ARGV[1]   the version
    ARGV[2]   the job that does it
    ARGV[3]   how many builds are remembered
    ARGV[4]   how long from now the site is left alone when a build was asked for at this version before, ms

  Answers ok, or gone.
]]
--- @include clock
local site, due = KEYS[1], KEYS[2]
if redis.call('EXISTS', site) == 0 or redis.call('HEXISTS', site, 'g') == 1 then
  return 'gone'
end
local version, before = tonumber(ARGV[1]), tonumber(redis.call('HGET', site, 'a') or '-1')
if version >= before then
  redis.call('HSET', site, 'a', version, 'aj', ARGV[2])
end
-- What could not be built once may not be built the next time either.
if version == before then
  redis.call('ZADD', due, 'XX', clock() + tonumber(ARGV[4]), string.match(site, '[^:]+$'))
end
redis.call('ZADD', site .. ':builds', 'NX', clock(), ARGV[2])
redis.call('ZREMRANGEBYRANK', site .. ':builds', 0, -1 - tonumber(ARGV[3]))
return 'ok'
