#!lua flags=allow-oom
--[[
  cancel: notes that a cancel is about to be, before it is, so that whoever looks finds what its caller left undone; and when
  it is to be looked at again.

    KEYS[1]   zset of the digests of cancelIds, by when they are looked at next, ms; :<digest> and :untold beside it, in the
              same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   what: intend, later or done
    ARGV[3]   digest of the cancelId
    ARGV[4]   how long from now until it is looked at, ms
    ARGV[5]   for intend: what is cancelled, as JSON; ARGV[6] how long that is kept, ms; ARGV[7] 0, or it is listed, the first
              time, until others are told of it: as one of so many

  Answers {'ok'}, or {'other'}: this cancelId is of another cancel.
]]
--- @include each
if #ARGV ~= 7 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, what, id, inMs = clock(ARGV[1]), ARGV[2], ARGV[3], number(ARGV[4])
local target, keep, mostUntold = ARGV[5], number(ARGV[6]), number(ARGV[7])
local name, untold = KEYS[1] .. ':' .. id, KEYS[1] .. ':untold'
redis.call('ZCARD', KEYS[1])
if what == 'intend' then
  local known = redis.call('GET', name)
  if known and known ~= target then
    return { 'other' }
  end
  local over = redis.call('ZCARD', untold) + 1 - mostUntold
  redis.call('SET', name, target, 'PX', keep)
  redis.call('ZADD', KEYS[1], now + inMs, id)
  if not known and mostUntold > 0 then
    if over > 0 then
      redis.call('ZREMRANGEBYRANK', untold, 0, over - 1)
    end
    redis.call('ZADD', untold, now, id)
    redis.call('PEXPIRE', untold, keep)
  end
elseif what == 'later' then
  redis.call('ZADD', KEYS[1], 'XX', now + inMs, id)
elseif what == 'done' then
  redis.call('ZREM', KEYS[1], id)
else
  return redis.error_reply('ERR unknown: ' .. what)
end
return { 'ok' }
