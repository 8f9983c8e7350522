--[[
  join: adds a requester to a diagram whose job exists. The source is kept until the job ends, so that the diagram can be drawn
  for the others if the job is removed with its owner.

    KEYS[1]   the diagram; :askers and :source beside it, in the same slot
    KEYS[2]   the due list of its diagrams

    ARGV[1]   the source
    ARGV[2]   retention, ms
    ARGV[3]   time until it is due, ms

  Answers joined; alone if it has no other requester.
]]
--- @include clock
local diagram = KEYS[1]
if redis.call('HLEN', diagram .. ':askers') < 2 then
  return 'alone'
end
redis.call('SET', diagram .. ':source', ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[2], 'NX', clock() + tonumber(ARGV[3]), string.match(diagram, '[^:]+$'))
return 'joined'
