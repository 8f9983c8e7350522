-- A site whose changes are all shown, and which has no build to show, is not looked after.
local function rest(site, due)
  local known = redis.call('HMGET', site, 'w', 'cv', 'g')
  local isShown = tonumber(known[1] or '0') <= tonumber(known[2] or '0')
  if isShown and not known[3] and redis.call('EXISTS', site .. ':offers') == 0 then
    redis.call('ZREM', due, string.match(site, '[^:]+$'))
  end
end
