#!lua flags=allow-oom
--[[
  sweep: what became of these deadlines: each is put off, or leaves the list, unless it was written anew since it was read.

    KEYS[1]   a part of the list of deadlines: zset of entries by when they are due, ms

    ARGV      3 for each: the entry; when it was due, ms, '' for one that was not listed; when it is due now, ms, '' for never

  Answers how many were changed.
]]
--- @include each
if #ARGV == 0 or #ARGV % 3 ~= 0 then
  return redis.error_reply('ERR wrong number of arguments')
end
local list, changed = KEYS[1], 0
for at = 1, #ARGV, 3 do
  for _, time in ipairs({ ARGV[at + 1], ARGV[at + 2] }) do
    if time ~= '' then
      number(time)
    end
  end
end
redis.call('ZCARD', list)
for at = 1, #ARGV, 3 do
  local entry, was, is = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  if tonumber(redis.call('ZSCORE', list, entry) or '') == was then
    if is == '' then
      redis.call('ZREM', list, entry)
    else
      redis.call('ZADD', list, is, entry)
    end
    changed = changed + 1
  end
end
return changed
