#!lua flags=allow-oom
--[[
  cancel: one that was meant is not to be after all. Nothing is left of it, unless it was meant again since.

    KEYS[1]   zset of the digests of cancelIds, by when they are looked at next, ms; :<digest> and :untold beside it, in the
              same slot

    ARGV[1]   digest of the cancelId
    ARGV[2]   how long what is cancelled is kept from when it is meant, ms
    ARGV[3]   how long ago it must have been meant last, ms; 0 for whenever that was

  Answers {'forgotten'}, or {'kept'}: it was meant again too short a time ago.
]]
--- @include each
if #ARGV ~= 3 then
  return redis.error_reply('ERR wrong number of arguments')
end
local id, keep, agoMs = ARGV[1], number(ARGV[2]), number(ARGV[3])
local name, untold = KEYS[1] .. ':' .. id, KEYS[1] .. ':untold'
redis.call('ZCARD', KEYS[1])
redis.call('ZCARD', untold)
if keep - redis.call('PTTL', name) < agoMs then
  return { 'kept' }
end
redis.call('ZREM', KEYS[1], id)
redis.call('ZREM', untold, id)
redis.call('UNLINK', name)
return { 'forgotten' }
