#!lua flags=allow-oom
--[[
  strike: records a failed attempt at a lease's end. The next one follows after 1 s, then 4 s; 9 s after the third a last check
  follows, and if the container still exists then, the lease needs manual clean-up.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   fence of the attempt   ARGV[3]   reason   ARGV[4]   1: no process with its engine was found

  Answers {'again', ms}; {'manual'}: manual clean-up from now on; {'still'}: it was so before; or {'overtaken'}.
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
-- A process without the engine must not overwrite the reason of the one that has it.
if known[2] == 'ending' or lost ~= '1' then
  redis.call('HSET', key, 'why', why, 'lost', lost)
end
if known[2] == 'manual-cleanup' then
  return { 'still' }
end
local tries = tonumber(known[3]) + 1
if tries > MOST then
  move(id, 'manual-cleanup')
  -- The reconciler removes its jobs.
  look_at(id, now + RECHECK_MS)
  return { 'manual' }
end
local pause = tries * tries * 1000
redis.call('HSET', key, 'tries', tries, 'next', text(now + pause))
look_at(id, now + pause + RECHECK_MS)
return { 'again', text(pause) }
