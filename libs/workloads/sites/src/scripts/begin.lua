--[[
  begin: records a build when it starts, because its requester may have died before recording it.

    KEYS[1]   the site; :builds beside it, in the same slot

    ARGV[1]   the job
    ARGV[2]   number of builds to keep recorded

  Answers ok, or gone.
]]
--- @include clock
local site = KEYS[1]
if redis.call('EXISTS', site) == 0 or redis.call('HEXISTS', site, 'g') == 1 then
  return 'gone'
end
redis.call('ZADD', site .. ':builds', 'NX', clock(), ARGV[1])
redis.call('ZREMRANGEBYRANK', site .. ':builds', 0, -1 - tonumber(ARGV[2]))
return 'ok'
