--[[
  look: what a driver is to be shown, after what was shown before: that a trip is offered, withdrawn, or accepted by him.

    KEYS[1]   the root of all keys
    ARGV[1]   driver   ARGV[2]   the entry that was shown last, or ''

  Answers {the newest entry's id, the trip that is offered or '', entries…}, each {id, {field, value…}}; without a last one, the
  entry of the offer that stands, if any does. One that is later than all of them was never shown, or the store has lost what
  was: that is none.
]]
--- @include trip
local driver, last = ARGV[1], ARGV[2]
local key = root .. ':offers:' .. driver
local offer = redis.call('HGET', driver_key(driver), 'offer') or ''
local newest = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
local entries = {}
if last ~= '' and #redis.call('XRANGE', key, last, '+', 'COUNT', 1) == 0 then
  last = ''
end
if last ~= '' then
  entries = redis.call('XRANGE', key, '(' .. last, '+')
elseif offer ~= '' then
  for _, entry in ipairs(redis.call('XREVRANGE', key, '+', '-')) do
    if entry[2][2] == 'offer' then
      entries = { entry }
      break
    end
  end
end
return { newest and newest[1] or last, offer, unpack(entries) }
