#!lua flags=allow-oom
--[[
  enqueue: how many jobs of a queue wait; the check and the count are one step, so that the limit is exact.

  Unlike the others it counts again when it is sent twice: to know its callers apart it would have to remember one word
  of each process, and each of those to have no more than one call under way. The janitor's census mends the count.

    KEYS[1]   the queue's hash: n how many wait, v moves with every change

    ARGV[1]   by how much it changes
    ARGV[2]   the most that may wait, '' for no limit; counts for a rise only

  Answers how many of the rise were let in (all of a fall), and how many wait now.
]]
--- @include each
local change, max = number(ARGV[1]), ARGV[2] ~= '' and number(ARGV[2])
local known = redis.call('HMGET', KEYS[1], 'n', 'v')
local waiting, version = number(known[1] or '0'), number(known[2] or '0')
if change > 0 and max then
  change = math.max(0, math.min(change, max - waiting))
end
waiting = math.max(0, waiting + change)
redis.call('HSET', KEYS[1], 'n', whole(waiting), 'v', whole(version + 1))
return { change, waiting }
