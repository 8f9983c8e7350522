#!lua flags=allow-oom
--[[
  settle: makes the results of these runs count, each at most once for its job.

  A run whose owner was cancelled, or that another run has overtaken, is refused: what it made never shows.

    KEYS[i]   record of an owner; :runs and :done beside it, in the same slot

    ARGV      5 for each key: the job; the run's token; its epoch; its fence; the result

  Answers for each: {'ok'}, {'cancelled'}, {'stale'}, or {'error', text}.
]]
--- @include each

local function commit(record, at)
  local job, token, epoch, fence, result = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local known = redis.call('HMGET', record, 'e', 'j' .. job)
  local held = redis.call('ZSCORE', record .. ':runs', job .. '|' .. token)
  local isCancelledAlone = string.match(known[2] or '', '^0|')
  if known[1] ~= epoch then
    return { 'cancelled' }
  end
  if isCancelledAlone then
    return { 'cancelled' }
  end
  local newest, holder = string.match(known[2] or '', '^%d+|%d+|(%d+)|([^|]*)')
  if not held or newest ~= fence or holder ~= token then
    return { 'stale' }
  end
  redis.call('HSETNX', record .. ':done', job, result)
  return { 'ok' }
end

return each(commit, 1, 5)
