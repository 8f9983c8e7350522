--[[
  look: what a driver is to be shown, after what was shown before: that a trip is offered, withdrawn, or accepted by him.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   the entry that was shown last, or ''   ARGV[3]   how many entries, at most

  Answers {the id of the newest entry, or of the last of so many; the trip that is offered or ''; for how long, ms; entries…},
  each {id, {field, value…}}; without a last one, the entry of the offer that stands, if any does. One that is later than all
  of them was never shown, or the store has lost what was: that is none.
]]
--- @include trip
local driver, last, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
local key = root .. ':offers:' .. driver
local offer = redis.call('HGET', driver_key(driver), 'offer') or ''
local expires = offer ~= '' and redis.call('HGET', trip_key(offer), 'expires')
local newest = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
newest = newest and newest[1]
local entries = {}
if last ~= '' and #redis.call('XRANGE', key, last, '+', 'COUNT', 1) == 0 then
  last = ''
end
if last ~= '' then
  entries = redis.call('XRANGE', key, '(' .. last, '+', 'COUNT', most)
  newest = #entries == most and entries[most][1] or newest
elseif offer ~= '' then
  for _, entry in ipairs(redis.call('XREVRANGE', key, '+', '-')) do
    if entry[2][2] == 'offer' then
      entries = { entry }
      break
    end
  end
end
return { newest or last, offer, expires and text(tonumber(expires) - now) or '0', unpack(entries) }
