--[[
  asked: a build was asked for, after all events up to this version were written.

    KEYS[1]   the site; :outbox and :builds beside it, in the same slot
    KEYS[2]   the list of sites to be tended

    ARGV[1]   the version
    ARGV[2]   the job that does it
    ARGV[3]   how many builds are remembered

  Answers ok, or gone.
]]
--- @include clock
--- @include rest
local site, due = KEYS[1], KEYS[2]
if redis.call('EXISTS', site) == 0 or redis.call('HEXISTS', site, 'g') == 1 then
  return 'gone'
end
redis.call('ZREMRANGEBYSCORE', site .. ':outbox', '-inf', ARGV[1])
redis.call('ZADD', site .. ':builds', 'NX', clock(), ARGV[2])
redis.call('ZREMRANGEBYRANK', site .. ':builds', 0, -1 - tonumber(ARGV[3]))
rest(site, due)
return 'ok'
