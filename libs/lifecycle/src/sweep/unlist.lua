#!lua flags=allow-oom
--[[
  sweep: an owner that has no jobs leaves the list, unless it was listed since that was looked for, or somebody else began to
  look.

    KEYS[1]   the part of the list that it is in; :leaving and :gone beside it, in the same slot: who is about to leave, by
              whose word, and who was seen to be gone

    ARGV[1]   the owner; ARGV[2] by whose word; ARGV[3] whether it has no jobs: 1, else it stays

  Answers {'struck'}, or {'listed'}: it stays.
]]
if #ARGV ~= 3 then
  return redis.error_reply('ERR wrong number of arguments')
end
local list, owner, token, isIdle = KEYS[1], ARGV[1], ARGV[2], ARGV[3] == '1'
redis.call('ZCARD', list)
redis.call('HLEN', list .. ':gone')
if redis.call('HGET', list .. ':leaving', owner) ~= token then
  return { 'listed' }
end
redis.call('HDEL', list .. ':leaving', owner)
if not isIdle then
  return { 'listed' }
end
redis.call('ZREM', list, owner)
redis.call('HDEL', list .. ':gone', owner)
return { 'struck' }
