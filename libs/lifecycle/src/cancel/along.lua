#!lua flags=allow-oom
--[[
  cancel: a schedule is about to end along with its owner. The cancel's receipt names it and the history says why, once,
  however often it is noted.

    KEYS[1]   record of the owner; :history and :cancel:<cancelId> beside it, in the same slot

    ARGV[1]   digest of the cancelId; ARGV[2] the schedule; ARGV[3] its line of history
    ARGV[4]   how many lines of history are kept; ARGV[5] for how long, ms

  Answers 1, or 0 when it was noted before, or the receipt is forgotten.
]]
--- @include each
if #ARGV ~= 5 then
  return redis.error_reply('ERR wrong number of arguments')
end
local cancelId, schedule, line = ARGV[1], ARGV[2], ARGV[3]
local lines, keep = number(ARGV[4]), number(ARGV[5])
local receipt, history = KEYS[1] .. ':cancel:' .. cancelId, KEYS[1] .. ':history'
local isKept = redis.call('HEXISTS', receipt, 'e') == 1
redis.call('LLEN', history)
if not isKept or redis.call('HSETNX', receipt, 's:' .. schedule, '1') == 0 then
  return 0
end
redis.call('LPUSH', history, line)
redis.call('LTRIM', history, 0, lines - 1)
redis.call('PEXPIRE', history, keep)
return 1
