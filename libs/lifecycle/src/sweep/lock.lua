#!lua flags=allow-oom
--[[
  sweep: leave to do one sort of sweep, for one process at a time. Nothing depends on it for its safety; it spares double
  work, and its fence tells an overtaken process from the one that overtook it.

    KEYS[1]   the lock: `<fence>|<token>`; :fence beside it, in the same slot: the last fence given

    ARGV[1]   take, keep or give
    ARGV[2]   token of who asks
    ARGV[3]   for how long, ms

  Answers {'taken', fence}, also to who has it already; {'kept', fence}; {'given'}; or {'held'}: somebody else has it, or
  nobody, who was to keep or give it.
]]
--- @include each
if #ARGV ~= 3 then
  return redis.error_reply('ERR wrong number of arguments')
end
local act, token, ttl = ARGV[1], ARGV[2], number(ARGV[3])
if act ~= 'take' and act ~= 'keep' and act ~= 'give' then
  return redis.error_reply('ERR unknown act: ' .. act)
end
local lock, counter = KEYS[1], KEYS[1] .. ':fence'
local fence, holder = string.match(redis.call('GET', lock) or '', '^(%d+)|(.*)$')
if holder and holder ~= token then
  return { 'held' }
end
if act == 'take' then
  if not holder then
    fence = whole(redis.call('INCR', counter))
  end
  redis.call('SET', lock, fence .. '|' .. token, 'PX', ttl)
  return { 'taken', fence }
end
if not holder then
  return { 'held' }
end
if act == 'keep' then
  redis.call('PEXPIRE', lock, ttl)
  return { 'kept', fence }
end
redis.call('DEL', lock)
return { 'given' }
