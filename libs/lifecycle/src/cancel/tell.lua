#!lua flags=allow-oom
--[[
  cancel: tells every worker at once. A hint alone: whoever misses it hears of it when it renews its lease.

    KEYS[1]   stream of what was cancelled

    ARGV[1]   the owner's record; ARGV[2] its epoch now; ARGV[3] the one job, '' for all; ARGV[4] how many entries are kept

  Answers the entry's id.
]]
--- @include each
if #ARGV ~= 4 then
  return redis.error_reply('ERR wrong number of arguments')
end
return redis.call('XADD', KEYS[1], 'MAXLEN', '~', number(ARGV[4]), '*', 'o', ARGV[1], 'e', ARGV[2], 'j', ARGV[3])
