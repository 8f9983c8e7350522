#!lua flags=allow-oom
--[[
  sweep: which of these owners are to go by this sweep, and which are not, unless it is another process's by now: one that
  was overtaken has asked too long ago.

    KEYS[1]   the book of sweeps; :lock:<sort> and :<sweep>:doomed beside it, in the same slot: a hash of owners

    ARGV[1]   the sort; ARGV[2] the fence under which it is swept
    ARGV[3]   the sweep; ARGV[4] how long the list is kept, ms
    then      each owner, and as what it was seen to be gone, '' when it is not to go

  Answers {'noted'}, or {'lost'}: nothing was written.
]]
--- @include each
if #ARGV < 6 or #ARGV % 2 ~= 0 then
  return redis.error_reply('ERR wrong number of arguments')
end
local book, sort, fence, keep = KEYS[1], ARGV[1], ARGV[2], number(ARGV[4])
local doomed = book .. ':' .. ARGV[3] .. ':doomed'
if string.match(redis.call('GET', book .. ':lock:' .. sort) or '', '^(%d+)|') ~= fence then
  return { 'lost' }
end
for i = 5, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', doomed, ARGV[i])
  else
    redis.call('HSET', doomed, ARGV[i], ARGV[i + 1])
  end
end
redis.call('PEXPIRE', doomed, keep)
return { 'noted' }
