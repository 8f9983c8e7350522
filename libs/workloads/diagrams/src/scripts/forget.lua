#!lua flags=allow-oom
--[[
  forget: what an owner has asked for is over for him.

    KEYS[1]   what the owner has asked for

    ARGV[1]   the diagram
    ARGV[2]   when he asked for it, as far as the caller knows

  Answers ok, or anew when he has asked for it again since: then it stays.
]]
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1])) ~= tonumber(ARGV[2]) then
  return 'anew'
end
redis.call('ZREM', KEYS[1], ARGV[1])
return 'ok'
