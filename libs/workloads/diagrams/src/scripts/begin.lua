--[[
  begin: a job of the diagram begins. It is noted also here, for who enqueued it may have died before he could.

    KEYS[1]   the diagram

    ARGV[1]   the job
    ARGV[2]   the owner that it has beside the diagram, '' for none
    ARGV[3]   the renderer that draws it there

  Answers ok; other when another job draws it; gone when nobody knows of it any more.
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
