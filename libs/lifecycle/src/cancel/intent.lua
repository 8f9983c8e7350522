#!lua flags=allow-oom
--[[
  cancel: notes that a cancel is about to be, before it is, so that whoever looks finds what its caller left undone; and when
  it is to be looked at again.

    KEYS[1]   zset of the digests of cancelIds, by when they are looked at next, ms; :<digest> beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   what: intend, later or done
    ARGV[3]   digest of the cancelId
    ARGV[4]   how long from now until it is looked at, ms
    ARGV[5]   for intend: what is cancelled, as JSON; ARGV[6] how long that is kept, ms

  Answers {'ok'}, or {'other'}: this cancelId is of another cancel.
]]
--- @include each
if #ARGV ~= 6 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, what, id, inMs = clock(ARGV[1]), ARGV[2], ARGV[3], number(ARGV[4])
local target, keep = ARGV[5], number(ARGV[6])
redis.call('ZCARD', KEYS[1])
if what == 'intend' then
  local name = KEYS[1] .. ':' .. id
  local known = redis.call('GET', name)
  if known and known ~= target then
    return { 'other' }
  end
  redis.call('SET', name, target, 'PX', keep)
  redis.call('ZADD', KEYS[1], now + inMs, id)
elseif what == 'later' then
  redis.call('ZADD', KEYS[1], 'XX', now + inMs, id)
elseif what == 'done' then
  redis.call('ZREM', KEYS[1], id)
else
  return redis.error_reply('ERR unknown: ' .. what)
end
return { 'ok' }
