#!lua flags=allow-oom
--[[
  cancel: an owner that was closed takes jobs again. Its epoch stays: what was enqueued before it was closed stays dead.

    KEYS[1]   record of the owner

    ARGV[1]   now, ms; '' for the store's own clock

  Answers {'open', epoch}, or {'none'} when nothing is known of it, which is as good as open. Since when it is open is kept:
  what happened before is no reason to cancel it again.
]]
--- @include each
if #ARGV ~= 1 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now = clock(ARGV[1])
local known = redis.call('HMGET', KEYS[1], 'e', 's')
if not known[1] then
  return { 'none' }
end
if known[2] == 'closed' then
  redis.call('HSET', KEYS[1], 's', 'open ' .. whole(now))
end
return { 'open', known[1] }
