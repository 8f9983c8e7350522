--[[
  expire: jobs whose time to start is over leave their queues, as if they had been refused at the gate.

    KEYS[1]  the deadlines
    ARGV[1]  root   [2] how many at most   [3] how many to pass over, or '' to change something
  Answers how many were looked at, then for each job that leaves: <queue>:<id>, name, state, primary owner.
]]
-- When a job is looked at again that ends by way of the gate: a turn of a scheduler, a parent of a flow.
local LATER_MS = 60000

root = ARGV[1]
local isDry, now, answers = ARGV[3] ~= '', math.floor(nowUs() / 1000), {}

local function expire(prefix, job, mark, ref)
  local state, described = stateOf(prefix, job), describe(prefix, job)
  local name, parent = unpack(redis.call('HMGET', prefix .. job, 'name', 'parentKey'))
  for _, value in ipairs({ ref, name, state, mark.owner }) do answers[#answers + 1] = value end
  if isDry then return end
  forget(mark, ref, 'expired')
  removeFromQueue(prefix, job, nil, parent, whole(now), 'expired')
  noteGone(ref, ownersOfMark(mark), described, 'expired', state)
end

local function look(ref)
  local prefix, job = splitRef(ref)
  local mark = markOfJob(prefix, job)
  if not mark or mark.startBy == '' or not allCurrent(mark, ref) then return redis.call('ZREM', KEYS[1], ref) end
  if tonumber(mark.startBy) >= now then return redis.call('ZADD', KEYS[1], mark.startBy, ref) end
  local endsAtGate = isLocked(prefix, job) or schedulerOf(prefix, job) or redis.call('ZSCORE', prefix .. 'waiting-children', job)
  if endsAtGate then return redis.call('ZADD', KEYS[1], whole(now + LATER_MS), ref) end
  expire(prefix, job, mark, ref)
end

local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. whole(now), 'LIMIT', isDry and ARGV[3] or 0, ARGV[2])
for _, ref in ipairs(due) do look(ref) end
writeGone()
table.insert(answers, 1, #due)
return answers
