#!lua flags=allow-oom
--[[
  cancel: notes that DURABILITY confirmed this cancel. Its receipt says so from now on.

    KEYS[1]   record of the owner; :cancel:<cancelId> beside it, in the same slot

    ARGV[1]   digest of the cancelId

  Answers 1, or 0 when there is no such receipt.
]]
if #ARGV ~= 1 then
  return redis.error_reply('ERR wrong number of arguments')
end
local receipt = KEYS[1] .. ':cancel:' .. ARGV[1]
if redis.call('HEXISTS', receipt, 'e') == 0 then
  return 0
end
redis.call('HSET', receipt, 'f', '1')
return 1
