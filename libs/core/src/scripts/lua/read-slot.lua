--[[
  read-slot: who holds a slot and who waits for it. Nothing is written.

    KEYS[1]  the limit of the slot
    ARGV[1]  root   [2] the slot   [3] how many are named of each
  Answers {} for a slot that is not known, else {its limit, or '', number of holders, number in line, holders and since when, in µs,
  the line and since when, its rate, or '', how long there is no token yet, ms}.
]]
root = ARGV[1]
local slot, last = { key = ARGV[2] }, tonumber(ARGV[3]) - 1
if redis.call('EXISTS', limitOf(slot.key), rateKeyOf(slot.key), holdersOf(slot), lineOf(slot)) == 0 then return {} end
local rate = namedSlot(slot.key, MOST_HOLDERS).rate

local function named(key)
  return redis.call('ZRANGE', key, 0, last, 'WITHSCORES')
end

return { redis.call('GET', KEYS[1]) or '', redis.call('ZCARD', holdersOf(slot)), redis.call('ZCARD', lineOf(slot)),
  named(holdersOf(slot)), named(lineOf(slot)), rate and rate.text or '',
  rate and math.ceil(rates.untilToken({ key = slot.key, rate = rate }) / 1000) or 0 }
