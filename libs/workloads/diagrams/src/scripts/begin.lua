--[[
  begin: records the diagram's job when it starts, because its enqueuer may have died before recording it.

    KEYS[1]   the diagram

    ARGV[1]   the job
    ARGV[2]   its second owner, '' for none
    ARGV[3]   the renderer

  Answers ok; other if another job draws it; gone if the diagram is no longer known.
]]
local diagram = KEYS[1]
local known = redis.call('HMGET', diagram, 'link', 'job')
if not known[1] then
  return 'gone'
end
if known[2] and known[2] ~= ARGV[1] then
  return 'other'
end
redis.call('HSET', diagram, 'job', ARGV[1], 'by', ARGV[2], 'r', ARGV[3])
return 'ok'
