#!lua flags=allow-oom
--[[
  ended: nothing of a lease runs any more. Its container leaves the record, its place is freed and the lease ends in one step.
  The reconciler removes its jobs next, because this script may be called from one of them.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   fence of the attempt

  Answers {'ended', state}, or {'overtaken'}.
]]
--- @include lease
--- @include finish
local id, fence = ARGV[1], ARGV[2]
local key = lease_key(id)
local known = redis.call('HMGET', key, 'fence', 'how', 'od', 'state', 'key')
if known[1] ~= fence or (known[4] ~= 'ending' and known[4] ~= 'manual-cleanup') then
  return { 'overtaken' }
end
return { 'ended', finish(id, known[2], known[3], known[5]) }
