--[[
  join: somebody else asks for a diagram that is being made. Should its job go with the owner it has, it is made for the others:
  what is drawn is kept until then.

    KEYS[1]   the diagram; :askers and :source beside it, in the same slot
    KEYS[2]   the list of diagrams to be tended

    ARGV[1]   what is drawn
    ARGV[2]   how long it is remembered, ms
    ARGV[3]   how long from now it is tended, ms

  Answers joined; alone when nobody else asks for it.
]]
--- @include clock
local diagram = KEYS[1]
if redis.call('HLEN', diagram .. ':askers') < 2 then
  return 'alone'
end
redis.call('SET', diagram .. ':source', ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[2], 'NX', clock() + tonumber(ARGV[3]), string.match(diagram, '[^:]+$'))
return 'joined'
