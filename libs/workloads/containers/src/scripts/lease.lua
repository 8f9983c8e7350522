-- Fields of a lease: state; image; owner, od: the given owner and its digest; lives, created, expires, ended (ms); n: its
-- number; g: number of renewals; send, end, moor: its jobs; engine, container, born (ms): its container; making: until when a
-- container may still appear, ms; how and why it ended; tries: failed attempts at its end; hold: end of the current attempt's
-- hold, fence: its fence; next: earliest next attempt, ms; key: digest of the Idempotency-Key; lost: 1 if no process with its
-- engine was found.
local LEASE_KEEP_MS = 86400000
local LEASES_KEPT = 1000
-- Time for another process to finish a step before the reconciler does.
local RECHECK_MS = 1000
local AT_ONCE = 20

--- @include root

local function lease_key(id)
  return root .. ':lease:' .. id
end

local function look_at(id, at)
  redis.call('ZADD', root .. ':due', text(at), id)
end

local function move(id, state)
  local key = lease_key(id)
  local known = redis.call('HMGET', key, 'state', 'n')
  redis.call('ZREM', root .. ':is:' .. known[1], id)
  redis.call('ZADD', root .. ':is:' .. state, known[2], id)
  redis.call('HSET', key, 'state', state)
end

-- Marks the lease as ending: it can no longer be renewed, and its container will be removed.
local function close(id, how, why)
  move(id, 'ending')
  redis.call('HSET', lease_key(id), 'how', how, 'why', why, 'tries', 0, 'next', text(now))
  redis.call('HDEL', lease_key(id), 'hold')
  redis.call('ZADD', root .. ':until', text(now), id)
  look_at(id, now + RECHECK_MS)
end

local function forget(id)
  for _, list in ipairs({ 'all', 'over', 'is:ended', 'is:failed' }) do
    redis.call('ZREM', root .. ':' .. list, id)
  end
end

-- Removes a page of leases past their retention.
local function forget_old()
  local over = root .. ':over'
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', over, '-inf', text(now - LEASE_KEEP_MS), 'LIMIT', 0, AT_ONCE)) do
    forget(id)
  end
  local surplus = redis.call('ZCARD', over) - LEASES_KEPT
  if surplus > 0 then
    for _, id in ipairs(redis.call('ZRANGE', over, 0, math.min(surplus, AT_ONCE) - 1)) do
      forget(id)
      local order = redis.call('HGET', lease_key(id), 'key')
      redis.call('DEL', lease_key(id), order_key(order or ''))
    end
  end
end
