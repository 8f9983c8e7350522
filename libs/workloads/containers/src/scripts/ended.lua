#!lua flags=allow-oom
--[[
  ended: nothing runs for a lease any more. First its container is out of the record and its place is free, then the lease is
  over; nobody sees the one without the other. The care tidies up next what hangs on it: this may be said by one of its jobs.

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
