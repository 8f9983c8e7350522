--[[
  forget: removes all keys of a deleted site.

    KEYS[1]   the site; :builds, :offers and :old beside it, in the same slot
    KEYS[2]   the due list of its sites

  Answers ok, or kept if it was not deleted.
]]
local site, due = KEYS[1], KEYS[2]
if redis.call('EXISTS', site) == 1 and redis.call('HEXISTS', site, 'g') == 0 then
  return 'kept'
end
redis.call('DEL', site, site .. ':builds', site .. ':offers', site .. ':old')
redis.call('ZREM', due, string.match(site, '[^:]+$'))
return 'ok'
