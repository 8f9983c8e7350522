--[[
  note-durable: a cancel was confirmed to be durable. A receipt whose time is over is not begun again.

    KEYS[1]  receipt
]]
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'durable', '1') end
return 'noted'
