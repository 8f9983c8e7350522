#!lua flags=allow-oom
--[[
  claim: somebody is about to end a lease, if it is to end. Its time is compared here, in the step that marks it: what was
  renewed is not ended, and what is marked is not renewed. One attempt is under way at a time; of one who dies with it the
  hold ends.

    KEYS[1]   the root of all keys
    ARGV[1]   lease   ARGV[2]   how long the attempt may take, ms   ARGV[3]   1: also one that was given up

  Answers {'end', which attempt, fence, container, born, engine, ms for which one may still be made, how, ms since it was over}; {'look', likewise}:
  all attempts have failed, and it may have gone by itself since; {'early', ms};
  {'later', ms}: the next attempt is not due; {'busy', ms}: somebody is at it; {'manual'}; {'over', state}; {'unknown'}.
  Of container, born and engine nothing is known: ''. Of what may still be made: '', when nobody ever began.
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
    -- One whose jobs are not noted yet stays due for them.
    if known[5] then
      look_at(id, now + left + CARE_MS)
    end
    return { 'early', text(left) }
  end
  close(id, 'expired', 'its time is over')
elseif tonumber(known[3] or 0) > now then
  return { 'busy', text(tonumber(known[3]) - now) }
elseif state == 'manual-cleanup' and not isForced then
  return { 'manual' }
elseif state == 'ending' and tonumber(known[4]) > now then
  look_at(id, tonumber(known[4]) + CARE_MS)
  return { 'later', text(tonumber(known[4]) - now) }
end

local fence = redis.call('HINCRBY', key, 'fence', 1)
redis.call('HSET', key, 'hold', text(now + hold))
if state ~= 'manual-cleanup' then
  look_at(id, now + hold + CARE_MS)
end
local made = redis.call('HMGET', key, 'tries', 'container', 'born', 'engine', 'making', 'how')
local left = made[5] and text(math.max(0, tonumber(made[5]) - now)) or ''
local attempt = tonumber(made[1]) + 1
local over = text(now - tonumber(redis.call('ZSCORE', root .. ':until', id)))
local word = state == 'ending' and attempt > MOST and 'look' or 'end'
return { word, text(attempt), text(fence), made[2] or '', made[3] or '', made[4] or '', left, made[6], over }
