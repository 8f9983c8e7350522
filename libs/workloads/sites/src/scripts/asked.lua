--[[
  asked: records the build that was requested after all changes up to this version were written.

  The build covers these changes until it is over. If they are not shown then, another build is requested.

    KEYS[1]   the site; :builds beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the version
    ARGV[2]   the build's job
    ARGV[3]   number of builds to keep recorded
    ARGV[4]   time until the site is due, if a build was requested at this version before, ms

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
-- A build for this version failed before and may fail again, so the next attempt is postponed.
if version == before then
  redis.call('ZADD', due, 'XX', clock() + tonumber(ARGV[4]), string.match(site, '[^:]+$'))
end
redis.call('ZADD', site .. ':builds', 'NX', clock(), ARGV[2])
redis.call('ZREMRANGEBYRANK', site .. ':builds', 0, -1 - tonumber(ARGV[3]))
return 'ok'
