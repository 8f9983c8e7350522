#!lua flags=allow-oom
--[[
  release: an operator declares that a lease's container went with its engine, which no process has any more.

    KEYS[1]   the root of all keys
    ARGV[1]   lease

  Answers {'ended', state}; {'refused', state}: it is not in manual clean-up; {'there'}: a process has its engine, which may have the
  container;
  or {'unknown'}.
]]
--- @include lease
--- @include finish
local id = ARGV[1]
local known = redis.call('HMGET', lease_key(id), 'state', 'lost', 'how', 'od', 'key')
if not known[1] then
  return { 'unknown' }
end
if known[1] ~= 'manual-cleanup' then
  return { 'refused', known[1] }
end
if known[2] ~= '1' then
  return { 'there' }
end
return { 'ended', finish(id, known[3], known[4], known[5]) }
