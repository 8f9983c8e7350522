-- A site with nothing left to be done is not looked after.
local function rest(site, due)
  local id = string.match(site, '[^:]+$')
  local isBusy = redis.call('EXISTS', site .. ':outbox', site .. ':offers') > 0
  if not isBusy and redis.call('HEXISTS', site, 'g') == 0 then
    redis.call('ZREM', due, id)
  end
end
