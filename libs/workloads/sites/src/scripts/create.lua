--[[
  create: creates a site without entities.

    KEYS[1]   the site

    ARGV      its fields and their values

  Answers ok, or exists.
]]
--- @include clock
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 'exists'
end
redis.call('HSET', KEYS[1], 'at', clock(), 'v', 0, 'n', 0, 'b', 0, unpack(ARGV))
return 'ok'
