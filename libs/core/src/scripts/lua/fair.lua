--[[
  Fair turns. Jobs that say `fair` wait in rounds: in each round every owner has one turn, or as many as its weight. The round of a job takes
  the place of BullMQ's counter in its score, priority * 2^32 + round. The first job of an owner gets the round that is fetched from at the
  time, each further one the round behind the one before it. A fetch takes the lowest score, as ever.

    <root>~fair~<queue>  zset: '<priority> <owner>' -> the first score that is free for the owner's next job, while some of its jobs may
                         wait; '' -> a number that grows with each job, so that those of one round are fetched in the order they came
]]
local BAND = 0x100000000
-- The smallest part of a turn. What is below it in a score is the order within a round.
local GRAIN = 256
local ARRIVALS = 4096
local FAIR_KEPT_MS = 8 * 24 * 3600 * 1000
local MOST_DUE_AT_ONCE = 1000

local function turnsOf(prefix)
  return root .. '~fair~' .. string.sub(prefix, #root + 2, -2)
end

-- Few queues have fair turns: the functions are made when one does.
local fair = whenUsed(function(fair)
  fair.steps = {}

  -- What this step knows and writes of a queue. It makes the queue known as one with fair turns.
  function fair.stepOf(prefix)
    local step = fair.steps[prefix]
    if not step then
      local key = turnsOf(prefix)
      step = { prefix = prefix, key = key, arrival = tonumber(redis.call('ZINCRBY', key, 1, '')), rounds = {}, turns = {}, taken = 0 }
      if step.arrival == 1 or step.arrival % GRAIN == 0 then redis.call('PEXPIRE', key, FAIR_KEPT_MS) end
      fair.steps[prefix] = step
    end
    return step
  end

  -- The round that is fetched from. Asked before BullMQ adds the job. Score 0 of a priority is BullMQ's for jobs that go first.
  function fair.roundOf(prefix, priority)
    local step = fair.stepOf(prefix)
    local round = step.rounds[priority]
    if not round then
      local base = priority * BAND
      local first = redis.call('ZRANGEBYSCORE', prefix .. 'prioritized', '(' .. whole(base), '(' .. whole(base + BAND), 'WITHSCORES',
        'LIMIT', 0, 1)[2]
      round = first and math.floor(tonumber(first) * GRAIN) / GRAIN or base + 1
      -- Owners whose next job is in this round anyway.
      redis.call('ZREMRANGEBYSCORE', step.key, whole(base), first and round or '(' .. whole(base + BAND))
      step.rounds[priority] = round
    end
    return round
  end

  -- The owner whose turn a job takes: the first of the type that it names, or the first.
  function fair.ownerIn(owners, by)
    for _, owner in ipairs(owners) do
      if by ~= '' and string.sub(owner.name, 1, #by + 1) == by .. ':' then return owner.name end
    end
    return owners[1].name
  end

  -- The first free score of an owner. Jobs that were removed have left theirs unused: it is no further than the owner has jobs.
  function fair.turnOf(step, entry, owner, round, share)
    local turn = step.turns[entry]
    if turn then return turn end
    turn = tonumber(redis.call('ZSCORE', step.key, entry) or '0')
    if turn > round then turn = math.min(turn, round + redis.call('HLEN', recordOf(owner)) * share) end
    return math.max(turn, round)
  end

  -- The score of a job. @param turn { priority, owner, weight }
  function fair.take(prefix, turn)
    local step, round = fair.stepOf(prefix), fair.roundOf(prefix, turn.priority)
    local entry, share = turn.priority .. ' ' .. turn.owner, math.ceil(GRAIN / turn.weight) / GRAIN
    local at = math.min(fair.turnOf(step, entry, turn.owner, round, share), (turn.priority + 1) * BAND - 1)
    step.turns[entry] = at + share
    step.taken = step.taken + 1
    return at + (step.arrival + step.taken) % ARRIVALS / ARRIVALS / GRAIN
  end

  -- A job that takes the place of a pending one takes its turn, if that one waits with the same priority.
  function fair.replace(prefix, turn, pending)
    local score = pending.prefix == prefix and tonumber(redis.call('ZSCORE', prefix .. 'prioritized', pending.job) or '0') or 0
    return math.floor(score / BAND) == turn.priority and score or fair.take(prefix, turn)
  end

  -- A job that BullMQ has placed takes its turn, unless it has left its queue.
  function fair.move(prefix, turn)
    redis.call('ZADD', prefix .. 'prioritized', 'XX', fair.take(prefix, turn), turn.job)
  end

  function fair.write()
    for _, step in pairs(fair.steps) do
      local entries = {}
      for entry, score in pairs(step.turns) do
        entries[#entries + 1] = score
        entries[#entries + 1] = entry
      end
      for from, to in pagesOf(entries) do redis.call('ZADD', step.key, unpack(entries, from, to)) end
      if step.taken > 0 then redis.call('ZINCRBY', step.key, step.taken, '') end
      step.arrival, step.taken = step.arrival + step.taken, 0
    end
  end

  -- The turn of a job that waits again, or nothing.
  function fair.read(prefix, job)
    local options, priority = unpack(redis.call('HMGET', prefix .. job, 'opts', 'priority'))
    local said = options and string.match(options, '"fair":{([^}]*)}')
    local mark = said and markIn(options)
    if not mark or tonumber(priority or '0') == 0 then return nil end
    local owner = fair.ownerIn(ownersOfMark(mark), string.match(said, '"by":"([^"]*)"') or '')
    fair.roundOf(prefix, tonumber(priority))
    return { job = job, priority = tonumber(priority), owner = owner, weight = tonumber(string.match(said, '"weight":([%d.]+)') or '1') }
  end

  -- What BullMQ places behind all others, such as a parent whose children have ended, goes into the present round.
  function fair.keepCounter(prefix, first)
    local round = tonumber(first) >= BAND and math.floor(tonumber(first) % BAND) or 0
    if tonumber(redis.call('GET', prefix .. 'pc') or '0') < round then redis.call('SET', prefix .. 'pc', whole(round)) end
  end

  -- Before a fetch, of a queue with fair turns: the turns of the jobs whose delay is over, which BullMQ's script places behind all others.
  function fair.due(prefix, timestamp)
    local upTo = whole((tonumber(timestamp) + 1) * 0x1000 - 1)
    local turns, first = {}, redis.call('ZRANGE', prefix .. 'prioritized', 0, 0, 'WITHSCORES')[2]
    if first then fair.keepCounter(prefix, first) end
    if not first and redis.call('EXISTS', prefix .. 'delayed') == 0 then redis.call('DEL', turnsOf(prefix)) end
    for _, job in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'delayed', 0, upTo, 'LIMIT', 0, MOST_DUE_AT_ONCE)) do
      turns[#turns + 1] = fair.read(prefix, job)
    end
    return turns
  end

  function fair.takeDue(prefix, turns)
    for _, turn in ipairs(turns) do fair.move(prefix, turn) end
    fair.write()
  end
end)
