-- A trip: status, customer, drivers (JSON), created, expires, ended (ms), driver, reason; key: digest of the key that it
-- was asked for with; secret: see own.cancels.ts; `j<driver>` -> the job that waits; `x<driver>`: declined.
-- What a driver is offered is always a trip that is PENDING: whoever ends one withdraws its offers in the same step.
local OFFERS_KEPT = 100
-- How long a phone may be away and still hear what it missed.
local OFFERS_KEEP_MS = 3600000
-- How long a trip that is over can be read.
local TRIP_KEEP_MS = 86400000
local CARE_MS = 5000

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

-- Nothing stays of a driver who is not available and has nothing.
local function forget_idle(driver)
  local key = driver_key(driver)
  if redis.call('HGET', key, 'available') ~= '1' and redis.call('HEXISTS', key, 'trip') == 0 then
    redis.call('DEL', key)
  end
end

-- What stands is in the stream for as long as it does, and whoever was away hears of its end.
local function show(driver, event, trip, more, stands)
  local key = root .. ':offers:' .. driver
  redis.call('XADD', key, 'MAXLEN', OFFERS_KEPT, '*', 'event', event, 'trip', trip, 'more', more)
  redis.call('PEXPIRE', key, text(OFFERS_KEEP_MS + (stands or 0)))
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
    redis.call('ZREM', line_key(driver), trip)
    if driver ~= but and withdraw(driver, trip, reason) then
      woken[#woken + 1] = next_in_line(driver)
      forget_idle(driver)
    end
  end
  return woken
end
