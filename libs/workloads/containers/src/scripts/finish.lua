-- Frees the lease's place and ends it. Returns its final state.
local function finish(id, how, od, order)
  local key = lease_key(id)
  redis.call('ZREM', root .. ':until', id)
  if od then
    redis.call('SREM', root .. ':of:' .. od, id)
  end
  local state = how == 'failed' and 'failed' or 'ended'
  move(id, state)
  redis.call('HDEL', key, 'hold', 'next')
  redis.call('HSET', key, 'ended', text(now))
  redis.call('PEXPIRE', key, LEASE_KEEP_MS)
  redis.call('PEXPIRE', order_key(order or ''), LEASE_KEEP_MS)
  redis.call('ZADD', root .. ':over', text(now), id)
  look_at(id, now + RECHECK_MS)
  forget_old()
  return state
end
