#!lua flags=allow-oom
--[[
  sweep: writes down what a sweep did and where it is, if the one who says so still has the lock; and keeps the lock.

    KEYS[1]   the book; :of:<sort> the sweeps of a sort by when, ms; :<sweep> a record, :<sweep>:lines what went, :at the
              unfinished one of each sort, :asked those to be begun, :untold those that others are not told of yet, and
              :lock:<sort>, all in the same slot; :of:<sort>:bytes how long the lines of each sweep are

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   the sort; ARGV[3] the token, '' for one that needs no lock
    ARGV[4]   how long the lock is kept, ms
    ARGV[5]   the sweep; ARGV[6] its record; ARGV[7] where it is, '' when it is over, - when nobody is to go on with it
    ARGV[8]   how long a record is kept, ms; ARGV[9] how many of a sort are; ARGV[10] how many lines are
    ARGV[11]  how many bytes the lines of all sweeps of the sort take: those of the oldest go
    ARGV[12]  1 when others are to be told of it: it is over, and listed until they are
    then      the lines

  Answers {'saved'}, or {'lost'}: nothing was written.
]]
local OVER_AT_ONCE = 100

--- @include each
if #ARGV < 12 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, sort, token, ttl = clock(ARGV[1]), ARGV[2], ARGV[3], number(ARGV[4])
local sweep, record, position = ARGV[5], ARGV[6], ARGV[7]
local keep, most, mostLines, mostBytes = number(ARGV[8]), number(ARGV[9]), number(ARGV[10]), number(ARGV[11])
local book, all = KEYS[1], KEYS[1] .. ':of:' .. ARGV[2]
local sizes = all .. ':bytes'
local untold = book .. ':untold'
local lock, at, lines = book .. ':lock:' .. sort, book .. ':at', book .. ':' .. sweep .. ':lines'

if token ~= '' then
  local holder = string.match(redis.call('GET', lock) or '', '^%d+|(.*)$')
  if holder ~= token then
    return { 'lost' }
  end
end
redis.call('ZCARD', all)
redis.call('ZCARD', untold)
local unfinished = string.match(redis.call('HGET', at, sort) or '', '^(.-)|')
local told = redis.call('LLEN', lines)
local bytes = told > 0 and number(redis.call('HGET', sizes, sweep) or '0') or 0

if token ~= '' then
  redis.call('PEXPIRE', lock, ttl)
end
if position ~= '' and position ~= '-' then
  redis.call('HSET', at, sort, sweep .. '|' .. position)
elseif unfinished == sweep then
  redis.call('HDEL', at, sort)
end
redis.call('SET', book .. ':' .. sweep, record, 'PX', keep)
redis.call('ZADD', all, 'NX', now, sweep)
for i = 13, math.min(#ARGV, 12 + mostLines - told) do
  if bytes + #ARGV[i] > mostBytes then
    break
  end
  redis.call('RPUSH', lines, ARGV[i])
  bytes = bytes + #ARGV[i]
end
if bytes > 0 then
  redis.call('HSET', sizes, sweep, whole(bytes))
  redis.call('PEXPIRE', sizes, keep)
end
redis.call('PEXPIRE', lines, keep)
if position == '' then
  redis.call('ZREM', book .. ':asked', sweep)
end
if ARGV[12] == '1' then
  redis.call('ZADD', untold, now, sweep)
  redis.call('PEXPIRE', untold, keep)
end
local over = redis.call('ZCARD', all) - most
if over > 0 then
  for _, old in ipairs(redis.call('ZRANGE', all, 0, math.min(over, OVER_AT_ONCE) - 1)) do
    redis.call('ZREM', all, old)
    redis.call('ZREM', untold, old)
    redis.call('HDEL', sizes, old)
    redis.call('UNLINK', book .. ':' .. old, book .. ':' .. old .. ':lines')
  end
end

local sum = 0
for _, size in ipairs(redis.call('HVALS', sizes)) do
  sum = sum + number(size)
end
for _, old in ipairs(sum > mostBytes and redis.call('ZRANGE', all, 0, -1) or {}) do
  local size = old ~= sweep and redis.call('HGET', sizes, old)
  if size then
    redis.call('UNLINK', book .. ':' .. old .. ':lines')
    redis.call('HDEL', sizes, old)
    sum = sum - number(size)
  end
  if sum <= mostBytes then
    break
  end
end
return { 'saved' }
