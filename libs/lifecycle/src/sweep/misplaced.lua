#!lua flags=allow-oom
--[[
  sweep: takes a job away from a key that BullMQ keeps for itself.

  Another program gave its job the id `wait`, for instance: BullMQ keeps a job's hash under the job's id, so it now stands where
  the list of waiting jobs belongs, and every command on that list fails. The hash moves as it is; the id leaves the queue's
  lists, in the same step, for a worker that took it would change the key again.

    KEYS[1]   the key of the queue; KEYS[2] where the hash goes; KEYS[3..] all keys of the queue, in the same slot

    ARGV[1]   the job's id, as the key ends
    ARGV[2]   how long the hash is kept, ms

  Answers 1, or 0: there is no hash.
]]
if #ARGV ~= 2 then
  return redis.error_reply('ERR wrong number of arguments')
end
local id, keep = ARGV[1], tonumber(ARGV[2])
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
  return 0
end
redis.call('RENAME', KEYS[1], KEYS[2])
redis.call('PEXPIRE', KEYS[2], keep)
for i = 3, #KEYS do
  local sort = redis.call('TYPE', KEYS[i]).ok
  if sort == 'list' then
    redis.call('LREM', KEYS[i], 0, id)
  elseif sort == 'zset' then
    redis.call('ZREM', KEYS[i], id)
  elseif sort == 'set' then
    redis.call('SREM', KEYS[i], id)
  end
end
return 1
