#!lua flags=allow-oom
--[[
  sweep: an owner that has no jobs leaves the list, unless it was listed since that was looked for.

    KEYS[1]   the part of the list that it is in; :leaving and :gone beside it, in the same slot: who is about to leave, and
              who was seen to be gone

    ARGV[1]   the owner

  Answers {'struck'}, or {'listed'}: it stays.
]]
if #ARGV ~= 1 then
  return redis.error_reply('ERR wrong number of arguments')
end
local list, owner = KEYS[1], ARGV[1]
redis.call('ZCARD', list)
redis.call('HLEN', list .. ':gone')
if redis.call('HDEL', list .. ':leaving', owner) == 0 then
  return { 'listed' }
end
redis.call('ZREM', list, owner)
redis.call('HDEL', list .. ':gone', owner)
return { 'struck' }
