#!lua flags=allow-oom
--[[
  sweep: who of a part of the list of owners was seen to be gone, and who was not. What one asked who was overtaken meanwhile is
  older than what the other asked, and is not written.

    KEYS[1]   hash of owners -> as what they were seen to be gone, and since when; :fence beside it, in the same slot: under
              which fence it was written last

    ARGV[1]   the fence under which this was asked
    ARGV[2]   how long that is remembered, ms
    then 2 for each owner: the owner; as what it was seen to be gone, '' when it was not

  Answers {'written'}, or {'lost'}: nothing was written.
]]
--- @include each
if #ARGV % 2 ~= 0 or #ARGV < 2 then
  return redis.error_reply('ERR wrong number of arguments')
end
local gone, fence, keep = KEYS[1], number(ARGV[1]), number(ARGV[2])
redis.call('HLEN', gone)
if fence < tonumber(redis.call('GET', gone .. ':fence') or '0') then
  return { 'lost' }
end
redis.call('SET', gone .. ':fence', whole(fence), 'PX', keep)
for i = 3, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', gone, ARGV[i])
  else
    redis.call('HSET', gone, ARGV[i], ARGV[i + 1])
  end
end
return { 'written' }
