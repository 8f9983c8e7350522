#!lua flags=allow-oom
--[[
  settled: takes a diagram whose job has ended off the due list.

    KEYS[1]   the diagram; :source beside it, in the same slot
    KEYS[2]   the due list of its diagrams

    ARGV[1]   the job that has ended, '' for none

  Answers ok, or other if it has another by now.
]]
local diagram = KEYS[1]
if (redis.call('HGET', diagram, 'job') or '') ~= ARGV[1] then
  return 'other'
end
redis.call('DEL', diagram .. ':source')
redis.call('ZREM', KEYS[2], string.match(diagram, '[^:]+$'))
return 'ok'
