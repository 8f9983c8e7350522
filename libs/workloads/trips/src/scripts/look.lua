--[[
  look: reads a driver's events after the last one that was shown.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   id of the last entry shown, or ''   ARGV[3]   limit

  Answers {id to resume after; the trip that is offered now or ''; ms until it expires; entries…}, each entry as
  {id, {field, value…}}. Without a last id the only entry is the standing offer, if any. A last id newer than the stream was
  never shown, or the store lost data, and counts as none.
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
