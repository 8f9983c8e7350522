--[[
  begin: a build of the site begins. It is noted also here, for who asked for it may have died before he could.

    KEYS[1]   the site; :builds beside it, in the same slot

    ARGV[1]   the job
    ARGV[2]   how many builds are remembered

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
