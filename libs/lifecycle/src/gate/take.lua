#!lua flags=allow-oom
--[[
  gate: leave to run for a concurrency key, first accepted, first served.

  Who finds no slot free stands in line, in the order in which the jobs were accepted: one that comes back, because its
  worker died or it was put off, stands where it stood. A slot that frees is granted to the job that stands first, for as long as a
  lease: time to be woken and to come. A hold is a run's, not its job's: what a run that was overtaken gives back late is
  not the newer one's. A hold that ran out belonged to a worker that died.

  Of a limit that was raised far, one call grants a part. Whoever takes up a grant grants the next ones, so the rest
  follows as those come; should none of them come, whoever looks by itself after its wait is granted in their place.

    KEYS[i]   holders of the key's slots, `<job>|<token of the run>`, or `<job>|` for a grant, by the end of their lease;
              :waiters beside it, in the same slot: jobs by their place in line; :limit, of a caller's key: its own

    ARGV[1]   now, ms; '' for the store's own clock
    then 6 for each key:
      what to do:
        stand  in line, before it is added     take  a slot, or a place in line
        look   whether it was granted          hold  the slot for longer
        give   the slot back                   quit  the line, and a grant
      the job; the run's token; the limit, unless the key has its own, and 0 to grant nothing; length of a lease, ms; when the job was accepted, in any unit

  Answers for each: {'taken', who stands first now, '' for nobody, woken…}; {'wait', ms until a lease ends, how many stand
  before it, woken…}; {'standing'}; {'held'} or {'lost'}; {'given', woken…}; {'granted', woken…} or {'waiting', woken…};
  {'error', text}. The woken got a slot by this call and must be told.
]]
-- How many one call grants, above which it would hold the store for too long; but always one for each that asks, so
-- that who stands first is not sent away from a free slot.
local MANY = 100

--- @include each
--- @include limit
local now = clock(ARGV[1])
local granting = 0

local ACTS = { stand = true, take = true, look = true, hold = true, give = true, quit = true }

local function grant(slot, limit, lease)
  local waiters, woken = slot .. ':waiters', {}
  while (granting < MANY or #woken == 0) and redis.call('ZCARD', slot) < limit do
    local first = redis.call('ZPOPMIN', waiters)
    if not first[1] then
      break
    end
    redis.call('ZADD', slot, now + lease, first[1] .. '|')
    woken[#woken + 1] = first[1]
    granting = granting + 1
  end
  return woken
end

local function taken(waiters, woken)
  return { 'taken', redis.call('ZRANGE', waiters, 0, 0)[1] or '', unpack(woken) }
end

local function serve(slot, at)
  local act, job, token = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local limit, lease, accepted = number(ARGV[at + 3]), number(ARGV[at + 4]), number(ARGV[at + 5])
  if not ACTS[act] then
    error('unknown act: ' .. act, 0)
  end
  local waiters, mine, granted = slot .. ':waiters', job .. '|' .. token, job .. '|'
  local place = redis.call('ZSCORE', waiters, job)
  if act == 'stand' then
    redis.call('ZADD', waiters, 'NX', accepted, job)
    return { 'standing' }
  end
  redis.call('ZREMRANGEBYSCORE', slot, '-inf', now)

  if act == 'hold' then
    if not redis.call('ZSCORE', slot, mine) then
      return { 'lost' }
    end
    redis.call('ZADD', slot, now + lease, mine)
    return { 'held' }
  end
  limit = limit_of(slot, limit)
  if act == 'give' or act == 'quit' then
    redis.call('ZREM', slot, act == 'give' and mine or granted)
    if act == 'quit' then
      redis.call('ZREM', waiters, job)
    end
    return { 'given', unpack(grant(slot, limit, lease)) }
  end

  if act == 'take' then
    keep_limit(slot)
    if redis.call('ZREM', slot, granted) == 1 or redis.call('ZSCORE', slot, mine) then
      redis.call('ZADD', slot, now + lease, mine)
      -- Told to stand once more after it was granted, it would be the next one itself.
      redis.call('ZREM', waiters, job)
      return taken(waiters, grant(slot, limit, lease))
    end
    if not place then
      redis.call('ZADD', waiters, accepted, job)
    end
  end
  local others = {}
  for _, woken in ipairs(grant(slot, limit, lease)) do
    if woken ~= job then
      others[#others + 1] = woken
    end
  end
  if act == 'look' then
    return { redis.call('ZSCORE', slot, granted) and 'granted' or 'waiting', unpack(others) }
  end
  if redis.call('ZREM', slot, granted) == 1 then
    redis.call('ZADD', slot, now + lease, mine)
    return taken(waiters, others)
  end
  local soonest = redis.call('ZRANGE', slot, 0, 0, 'WITHSCORES')
  local ms = math.max(1, (tonumber(soonest[2]) or now) - now)
  return { 'wait', whole(ms), whole(redis.call('ZRANK', waiters, job)), unpack(others) }
end

return each(serve, 2, 6)
