#!lua flags=allow-oom
--[[
  strike: an attempt at a lease's end has failed. The next one comes after 1 s, then 4 s; after the third there is one more look
  9 s later, and when the container is there then, it is for people.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   fence of the attempt   ARGV[3]   why

  Answers {'again', ms}, {'manual'}, or {'overtaken'}.
]]
--- @include lease
local MOST = 3
local id, fence, why = ARGV[1], ARGV[2], ARGV[3]
local key = lease_key(id)
local known = redis.call('HMGET', key, 'fence', 'state', 'tries')
if known[1] ~= fence or (known[2] ~= 'ending' and known[2] ~= 'manual-cleanup') then
  return { 'overtaken' }
end
redis.call('HDEL', key, 'hold')
redis.call('HSET', key, 'why', why)
local tries = tonumber(known[3]) + 1
if tries > MOST then
  move(id, 'manual-cleanup')
  redis.call('ZREM', root .. ':due', id)
  return { 'manual' }
end
local pause = tries * tries * 1000
redis.call('HSET', key, 'tries', tries, 'next', text(now + pause))
look_at(id, now + pause + CARE_MS)
return { 'again', text(pause) }
