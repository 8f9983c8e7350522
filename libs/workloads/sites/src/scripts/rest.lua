-- Takes a site off the due list if all its changes are shown and it has no build to publish or to remove.
local function rest(site, due)
  local known = redis.call('HMGET', site, 'w', 'cv', 'g')
  local isShown = tonumber(known[1] or '0') <= tonumber(known[2] or '0')
  local isTidy = redis.call('EXISTS', site .. ':offers', site .. ':old') == 0
  if isShown and isTidy and not known[3] then
    redis.call('ZREM', due, string.match(site, '[^:]+$'))
  end
end
