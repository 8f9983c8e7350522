-- A site whose changes are all shown, which has no build to show and none to remove, is not looked after.
local function rest(site, due)
  local known = redis.call('HMGET', site, 'w', 'cv', 'g')
  local isShown = tonumber(known[1] or '0') <= tonumber(known[2] or '0')
  local isTidy = redis.call('EXISTS', site .. ':offers', site .. ':old') == 0
  if isShown and isTidy and not known[3] then
    redis.call('ZREM', due, string.match(site, '[^:]+$'))
  end
end
