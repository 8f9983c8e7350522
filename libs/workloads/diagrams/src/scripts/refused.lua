--[[
  refused: the diagram gets no job now, and who asked for it is told so. One that never had any is forgotten.

    KEYS[1]   the diagram; :askers beside it, in the same slot
    KEYS[2]   its short link
    KEYS[3]   the list of those that are known

    ARGV[1]   whose turn it was to enqueue it
    ARGV[2]   who asked, '' for nobody in particular; or '-' when all who asked are to wait still

  Answers ok, or late when it was another's turn since.
]]
local diagram = KEYS[1]
if redis.call('HGET', diagram, 'n') ~= ARGV[1] then
  return 'late'
end
redis.call('HDEL', diagram, 'u')
redis.call('HDEL', diagram .. ':askers', ARGV[2])
if ARGV[1] == '1' and redis.call('EXISTS', diagram .. ':askers') == 0 then
  redis.call('DEL', diagram, KEYS[2])
  redis.call('ZREM', KEYS[3], string.match(diagram, '[^:]+$'))
end
return 'ok'
