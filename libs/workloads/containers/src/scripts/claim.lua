#!lua flags=allow-oom
--[[
  claim: starts an attempt to end a lease whose time is over. The deadline is compared in the step that marks the lease, so a
  renewed lease is not ended and a marked one is not renewed. One attempt runs at a time; its hold expires if the process dies.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   time limit of the attempt, ms   ARGV[3]   1: also if the lease was given up

  Answers {'end', number of the attempt, fence, container, born, engine, ms for which a container may still appear, how, ms since the
  deadline}; {'look', the same}: all attempts have failed, and the container may have gone by itself; {'early', ms};
  {'later', ms}: the next attempt is not due; {'busy', ms}: another attempt runs; {'manual'}; {'over', state}; {'unknown'}.
  Container, born and engine are '' if unknown; the ms for a container are '' if creation never began.
]]
local MOST = 3

--- @include lease
local id, hold, isForced = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local key = lease_key(id)
local known = redis.call('HMGET', key, 'state', 'expires', 'hold', 'next', 'send')
local state = known[1]
if not state then
  return { 'unknown' }
end
if state == 'ended' or state == 'failed' then
  return { 'over', state }
end
if state == 'provisioning' or state == 'running' then
  local left = tonumber(known[2]) - now
  if left > 0 then
    -- A lease whose jobs are not recorded yet stays due for them.
    if known[5] then
      look_at(id, now + left + RECHECK_MS)
    end
    return { 'early', text(left) }
  end
  close(id, 'expired', 'its time is over')
elseif tonumber(known[3] or 0) > now then
  return { 'busy', text(tonumber(known[3]) - now) }
elseif state == 'manual-cleanup' and not isForced then
  return { 'manual' }
elseif state == 'ending' and tonumber(known[4]) > now then
  look_at(id, tonumber(known[4]) + RECHECK_MS)
  return { 'later', text(tonumber(known[4]) - now) }
end

local fence = redis.call('HINCRBY', key, 'fence', 1)
redis.call('HSET', key, 'hold', text(now + hold))
if state ~= 'manual-cleanup' then
  look_at(id, now + hold + RECHECK_MS)
end
local made = redis.call('HMGET', key, 'tries', 'container', 'born', 'engine', 'making', 'how')
local left = made[5] and text(math.max(0, tonumber(made[5]) - now)) or ''
local attempt = tonumber(made[1]) + 1
local over = text(now - tonumber(redis.call('ZSCORE', root .. ':until', id)))
local word = state == 'ending' and attempt > MOST and 'look' or 'end'
return { word, text(attempt), text(fence), made[2] or '', made[3] or '', made[4] or '', left, made[6], over }
