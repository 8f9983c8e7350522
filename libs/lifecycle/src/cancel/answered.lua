#!lua flags=allow-oom
--[[
  cancel: how these runs took it that they were told to stop. Kept in the receipts of the cancels that told them.

    KEYS[i]   record of an owner; :cancels and :cancel:<cancelId> beside it, in the same slot

    ARGV      3 for each key: the job; the run's token; how: acknowledged or ignored

  Answers for each: {'ok'}, or {'error', text}.
]]
--- @include each
local HOW = { acknowledged = true, ignored = true }

local function answered(record, at)
  local run, how = 'run:' .. ARGV[at] .. '|' .. ARGV[at + 1], ARGV[at + 2]
  if not HOW[how] then
    error('unknown answer: ' .. how, 0)
  end
  for _, cancelId in ipairs(redis.call('HKEYS', record .. ':cancels')) do
    local receipt = record .. ':cancel:' .. cancelId
    if redis.call('HGET', receipt, run) == 'told' then
      redis.call('HSET', receipt, run, how)
    end
  end
  return { 'ok' }
end

return each(answered, 1, 3)
