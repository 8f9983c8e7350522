-- A trip: status, customer, drivers (JSON), created, expires, ended (ms), driver, reason; key: digest of the key that it
-- was asked for with; secret: see own.cancels.ts; sent: its jobs are; `j<driver>` -> the job that waits; `x<driver>`: declined.
-- What a driver is offered is always a trip that is PENDING: whoever ends one withdraws its offers in the same step.
-- How long a phone may be away and still hear what it missed, and of how much at most.
local OFFERS_KEEP_MS = 3600000
local OFFERS_KEPT = 1000
-- How long a trip that is over can be read.
local TRIP_KEEP_MS = 86400000
-- How long it is known that a driver is away: as long as any trip may be accepted that he was asked for before.
local AWAY_KEEP_MS = 86400000
-- So long after it was left to somebody the care looks at a trip, and so long after its time: its timeout comes first.
local CARE_MS = 5000
local LATE_MS = 250

local root = KEYS[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function trip_key(id)
  return root .. ':trip:' .. id
end

local function driver_key(id)
  return root .. ':driver:' .. id
end

local function line_key(id)
  return root .. ':line:' .. id
end

local function order_key(digest)
  return root .. ':key:' .. digest
end

local function text(number)
  return string.format('%.0f', number)
end

local function is_asked(drivers, driver)
  for _, asked in ipairs(cjson.decode(drivers)) do
    if asked == driver then
      return true
    end
  end
  return false
end

-- When the care is to look at a trip that is PENDING.
local function care_at(expires)
  return text(math.min(now + CARE_MS, tonumber(expires) + LATE_MS))
end

-- Of a driver who said that he is away, and has no trip, that alone stays, for a time.
local function forget_idle(driver)
  local key = driver_key(driver)
  if redis.call('HGET', key, 'available') == '0' and redis.call('HEXISTS', key, 'trip') == 0 then
    redis.call('PEXPIRE', key, AWAY_KEEP_MS)
  end
end

-- Whether he could be offered something.
local function is_free(driver)
  local has = redis.call('HMGET', driver_key(driver), 'available', 'trip', 'offer')
  return has[1] == '1' and not has[2] and not has[3]
end

-- What stands is in the stream for as long as it does, and whoever was away hears of its end: the stream's own end is put
-- off, and never comes earlier.
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

-- The job that waits for the driver first, a space, and the driver; or nil. To be told when the driver may be free.
local function next_in_line(driver)
  local first = redis.call('ZRANGE', line_key(driver), 0, 0)[1]
  local job = first and redis.call('HGET', trip_key(first), 'j' .. driver)
  return job and job .. ' ' .. driver or nil
end

-- Whether this is what the driver is offered; it is not any more.
local function withdraw(driver, trip, reason)
  if redis.call('HGET', driver_key(driver), 'offer') ~= trip then
    return false
  end
  redis.call('HDEL', driver_key(driver), 'offer')
  show(driver, 'withdrawn', trip, reason)
  return true
end

-- Withdraws all offers of a trip but one driver's, and takes it out of all lines. Answers the jobs that may go on.
local function withdraw_all(trip, reason, but)
  local woken = {}
  for _, driver in ipairs(cjson.decode(redis.call('HGET', trip_key(trip), 'drivers'))) do
    local stood = redis.call('ZREM', line_key(driver), trip) == 1
    -- Who stood first may have been woken, and who stands behind it was not.
    if driver ~= but and (withdraw(driver, trip, reason) or stood and is_free(driver)) then
      woken[#woken + 1] = next_in_line(driver)
      forget_idle(driver)
    end
  end
  return woken
end
