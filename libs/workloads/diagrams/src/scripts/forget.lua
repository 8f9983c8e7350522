#!lua flags=allow-oom
--[[
  forget: removes a request of an owner.

    KEYS[1]   the requests of the owner

    ARGV[1]   the diagram
    ARGV[2]   the time of the request that the caller saw

  Answers ok, or requested-again if the owner has requested it again since: then it stays.
]]
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1])) ~= tonumber(ARGV[2]) then
  return 'requested-again'
end
redis.call('ZREM', KEYS[1], ARGV[1])
return 'ok'
