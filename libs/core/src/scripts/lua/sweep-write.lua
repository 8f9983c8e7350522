--[[
  sweep-write: writes what a sweep has found out, if its process still has the lock, and keeps the lock. A lock that has expired is still
  that of its process until another one takes it.

    KEYS[1]  the lock: hash of fence, which grows, and until, ms
    ARGV[1]  root   [2] the fence of the process, `take` to take the lock, or '' for what needs none
    ARGV[3]  how long the lock is kept, ms   [4]… commands, each as JSON
  Answers the fence, or else the store's time, ms; then what each command did. Nothing if another process has the lock: nothing was written.
]]
local now, known = math.floor(nowUs() / 1000), redis.call('HMGET', KEYS[1], 'fence', 'until')
local answers = { whole(now) }
if ARGV[2] == 'take' then
  if tonumber(known[2] or '0') > now then return {} end
  answers[1] = whole(redis.call('HINCRBY', KEYS[1], 'fence', 1))
elseif ARGV[2] ~= '' and ARGV[2] ~= known[1] then
  return {}
end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'until', whole(now + tonumber(ARGV[3]))) end
for i = 4, #ARGV do answers[i - 2] = redis.call(unpack(cjson.decode(ARGV[i]))) end
return answers
