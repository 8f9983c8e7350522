#!lua flags=allow-oom
--[[
  schedules: those that are due, for whoever asks. Nobody else is given them for a while; then whoever comes, in case the
  first one died. What makes a second turn of one harmless is that its job has the same id.

    KEYS[1]   the book; :<schedule> beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   for how long, ms; ARGV[3] how many at most

  Answers {now, schedule, its fields and values, schedule, …}.
]]
--- @include each
if #ARGV ~= 3 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, hold, limit = clock(ARGV[1]), number(ARGV[2]), number(ARGV[3])
local book = KEYS[1]
local answer = { whole(now) }
for _, member in ipairs(redis.call('ZRANGEBYSCORE', book, '-inf', now, 'LIMIT', 0, limit)) do
  -- One that is of the wrong type must not hold up the others.
  local isHash, fields = pcall(redis.call, 'HGETALL', book .. ':' .. member)
  if not isHash then
    redis.call('ZADD', book, now + hold, member)
  elseif #fields == 0 then
    redis.call('ZREM', book, member)
  else
    redis.call('ZADD', book, now + hold, member)
    answer[#answer + 1] = member
    answer[#answer + 1] = fields
  end
end
return answer
