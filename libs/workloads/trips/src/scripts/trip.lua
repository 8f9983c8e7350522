-- Fields of a trip: status, customer, drivers (JSON), created, expires, ended (ms), driver, reason; key: digest of the
-- Idempotency-Key; secret: see trip-cancel-ids.ts; sent: its jobs are enqueued; `j<driver>`: the job queued for the driver;
-- `x<driver>`: declined.
-- Invariant: an offered trip is PENDING. A script that ends a trip withdraws its offers in the same step.

-- How long, and how many, events are kept for a phone that reconnects.
local OFFERS_KEEP_MS = 3600000
local OFFERS_KEPT = 1000
-- How long a trip can be read after its end.
local TRIP_KEEP_MS = 86400000
-- How long an offline driver is remembered: the longest time to accept a trip they were asked for before.
local AWAY_KEEP_MS = 86400000
-- Delays of the reconciler: for a step that another process should finish, and after a trip's expiry, which its timeout job
-- handles first.
local RECHECK_MS = 5000
local LATE_MS = 250

--- @include root

local function trip_key(id)
  return root .. ':trip:' .. id
end

local function driver_key(id)
  return root .. ':driver:' .. id
end

local function line_key(id)
  return root .. ':line:' .. id
end

local function is_asked(drivers, driver)
  for _, asked in ipairs(cjson.decode(drivers)) do
    if asked == driver then
      return true
    end
  end
  return false
end

-- When the reconciler next checks a PENDING trip.
local function recheck_at(expires)
  return text(math.min(now + RECHECK_MS, tonumber(expires) + LATE_MS))
end

-- Lets the record of an offline driver without a trip expire.
local function forget_idle(driver)
  local key = driver_key(driver)
  if redis.call('HGET', key, 'available') == '0' and redis.call('HEXISTS', key, 'trip') == 0 then
    redis.call('PEXPIRE', key, AWAY_KEEP_MS)
  end
end

-- True if the driver is available and has neither a trip nor an offer.
local function is_free(driver)
  local has = redis.call('HMGET', driver_key(driver), 'available', 'trip', 'offer')
  return has[1] == '1' and not has[2] and not has[3]
end

-- Appends an event. The stream outlives a standing offer, so that a returning phone reads its end; its TTL is only extended.
local function show(driver, event, trip, more, stands)
  local key = root .. ':offers:' .. driver
  local lives = OFFERS_KEEP_MS + (stands or 0)
  redis.call('XADD', key, 'MINID', text(now - OFFERS_KEEP_MS), '*', 'event', event, 'trip', trip, 'more', more)
  redis.call('XTRIM', key, 'MAXLEN', OFFERS_KEPT)
  if redis.call('PTTL', key) < lives then
    redis.call('PEXPIRE', key, text(lives))
  end
  redis.call('PUBLISH', key, trip)
end

-- Returns `<job id> <driver>` for the first request in the driver's queue, or nil. Called when the driver may be free.
local function next_in_line(driver)
  local first = redis.call('ZRANGE', line_key(driver), 0, 0)[1]
  local job = first and redis.call('HGET', trip_key(first), 'j' .. driver)
  return job and job .. ' ' .. driver or nil
end

-- Withdraws the driver's offer of this trip. False if they have no such offer.
local function withdraw(driver, trip, reason)
  if redis.call('HGET', driver_key(driver), 'offer') ~= trip then
    return false
  end
  redis.call('HDEL', driver_key(driver), 'offer')
  show(driver, 'withdrawn', trip, reason)
  return true
end

-- Withdraws a trip's offers, except the one to driver `but`, and removes it from all queues. Returns the jobs to wake.
local function withdraw_all(trip, reason, but)
  local woken = {}
  for _, driver in ipairs(cjson.decode(redis.call('HGET', trip_key(trip), 'drivers'))) do
    local stood = redis.call('ZREM', line_key(driver), trip) == 1
    -- The removed request may have used the wake, so the next one is woken.
    if driver ~= but and (withdraw(driver, trip, reason) or stood and is_free(driver)) then
      woken[#woken + 1] = next_in_line(driver)
      forget_idle(driver)
    end
  end
  return woken
end
