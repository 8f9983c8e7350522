#!lua flags=allow-oom
--[[
  strike: an attempt at a lease's end has failed. The next one comes after 1 s, then 4 s; after the third there is one more look
  9 s later, and when the container is there then, it is for people.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   fence of the attempt   ARGV[3]   why   ARGV[4]   1: nobody was found who has its engine

  Answers {'again', ms}; {'manual'}: from now on; {'still'}: it was that before; or {'overtaken'}.
]]
--- @include lease
local MOST = 3
local id, fence, why, lost = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = lease_key(id)
local known = redis.call('HMGET', key, 'fence', 'state', 'tries')
if known[1] ~= fence or (known[2] ~= 'ending' and known[2] ~= 'manual-cleanup') then
  return { 'overtaken' }
end
redis.call('HDEL', key, 'hold')
-- Of one that was given up by whoever has its engine, another knows nothing better.
if known[2] == 'ending' or lost ~= '1' then
  redis.call('HSET', key, 'why', why, 'lost', lost)
end
if known[2] == 'manual-cleanup' then
  return { 'still' }
end
local tries = tonumber(known[3]) + 1
if tries > MOST then
  move(id, 'manual-cleanup')
  -- For its jobs, which end now.
  look_at(id, now + CARE_MS)
  return { 'manual' }
end
local pause = tries * tries * 1000
redis.call('HSET', key, 'tries', tries, 'next', text(now + pause))
look_at(id, now + pause + CARE_MS)
return { 'again', text(pause) }
