--[[
  add: jobs are accepted, in the order given.

  Reads the owners' records, the pending job of the deduplication key and the limits, lets BullMQ add the job, and enters it in the
  index of its owners, in one step: a job is in its queue exactly when it is in the index.

    KEYS[1]  any key of the queue, for its Cluster slot

    ARGV[1]  root: the prefix of the queues
    ARGV[2]  'each': a refused job leaves the others alone; 'all': all or none
    ARGV[3]  ARGV[4]  most jobs that an owner, and a queue, may have; '' for any number
    ARGV[5]  number of templates, then for each of them
      1 sort, as BullMQ calls it   2 prefix of the queue   3 name   4 options, JSON   5 time to start in, ms, or ''   6 dedup strategy or ''
      7 longest wait of a coalesced job, ms, or ''   8 '1' if the id is the caller's, and stands among the options
      9 '1' if the jobs have needs   10 '1' if they belong to a flow or a scheduler, or BullMQ deduplicates them   11 '1' if they have an
      idempotency key, or come late
    then for each job
      1 number of its template   2 id   3 timestamp   4 data   5 owners, joined by |; '' for none
      <key>|<limit>|<slot> as in its mark, if it has needs; a slot with a rate is `<slot> <max>/<per, ms>`
      key, dependencies and description of the parent, scheduler, whether its parent is released later, BullMQ's deduplication id: JSON, if it
      has one of these
      <digest of the key>|<digest of the request>|<when it was asked for, ms>, if it has an idempotency key, or comes late

  Answers for each: 'created', {'existing', id}, {'skipped', id}, {'coalesced', id}, {'replaced', id}, {'closed', owner}, {'ended', owner},
  {'owner-full', owner}, {'queue-full', count}, {'slot-limit', limit and rate of its key}, {'repeated', ...} and {'conflict'} as in
  idempotency.lua, or {'error', text}. With 'all', a refusal is the only answer.
]]
local ownerLimit, queueLimit = tonumber(ARGV[3]), tonumber(ARGV[4])

-- Jobs of owners and of queues: what the store has, and what this step has accepted.
local accepted = {}

local function jobsOf(owner)
  if owner.isNew then return accepted[owner.name] or 0 end
  return countJobs(owner.name) + (accepted[owner.name] or 0)
end

local depths = {}

local function depthOf(prefix)
  depths[prefix] = depths[prefix] or redis.call('LLEN', prefix .. 'wait') + redis.call('ZCARD', prefix .. 'prioritized')
    + redis.call('ZCARD', prefix .. 'delayed') + redis.call('ZCARD', prefix .. 'waiting-children')
  return depths[prefix]
end

local function overLimit(request)
  if ownerLimit then
    for _, owner in ipairs(request.owners) do
      if jobsOf(owner) >= ownerLimit then return { 'owner-full', owner.name } end
    end
  end
  if queueLimit and depthOf(request.prefix) >= queueLimit then return { 'queue-full', depthOf(request.prefix) } end
end

-- The options of a job are those of its template, behind its mark, if it has owners, and its id, if that is the caller's.
local function optionsOf(request, mark)
  local own = request.template.isCallersId and '"jobId":' .. encodeJson(request.job) or ''
  if mark then own = '"mooring":"' .. mark .. '"' .. (own ~= '' and ',' or '') .. own end
  if own == '' then return '{' .. string.sub(request.template.furtherOptions, 2) end
  return '{' .. own .. request.template.furtherOptions
end

-- The longest wait of a coalesced job is counted from its timestamp, so that is the store's time: clocks of producers differ.
local function timestampOf(request)
  return request.template.longestWait == '' and request.timestamp or msText(request.at)
end

-- Answers whether the job is new, and the id of the one that there is. @param mark nothing for a job without owners
local function letBullAdd(request, mark)
  local template, rest = request.template, restOf(request)
  local options = template.options
  textOfOptions[options], storedOptions = optionsOf(request, mark), nil
  local deduplication = rest[6] and request.prefix .. 'de:' .. rest[6]
  local packed = { request.prefix, request.job, template.name, timestampOf(request), rest[1], rest[2], rest[3], rest[4], deduplication, rest[5] }
  local answer = bull[template.sort](template.keys, { packed, request.data, options })
  if isError(answer) then error({ err = 'BULLMQ ' .. answer .. ' ' .. (rest[1] or '') }) end
  return storedOptions == options, answer
end

local now

-- Limit and rate of the slots that earlier jobs of this step claim: all of them are accepted, or none.
local claimed = {}

local function slotRefusal(request)
  local _, slot = slotIn(request.needs)
  if not slot then return nil end
  local other = otherLimit(request.needs) or claimed[slot] and otherLimit(request.needs, claimed[slot])
  if other then return { 'slot-limit', other } end
end

-- Why the job is not added, or nothing.
local function refusal(request)
  now = now or nowUs()
  local closed
  request.at, closed = lookUp(request.owners, now)
  if closed then return { 'closed', closed } end
  for _, owner in ipairs(request.askedAt and request.owners or {}) do
    if late.isEnded(owner.name, request.askedAt) then return { 'ended', owner.name } end
  end
  -- BullMQ says what it says of a job that exists.
  if request.template.isCallersId and redis.call('EXISTS', request.prefix .. request.job) == 1 then return nil end
  if request.template.strategy ~= '' then
    request.key = string.match(request.needs, '^[^|]*')
    request.pending = otherPending(request.owners[1].name, request.key, request.ref)
  end
  return slotRefusal(request) or not request.pending and overLimit(request) or nil
end

local function accept(request)
  local isOwned = #request.owners > 0
  nextScore = scoreOf(request)
  local isNew, id = letBullAdd(request, isOwned and markOf(request))
  nextScore = nil
  if not isNew then return { 'existing', id } end
  if not isOwned then return 'created' end
  claimLimit(request.needs)
  enterAll(request.owners, request.ref, request.at)
  noteDeadline(request.ref, startBy(request))
  if request.template.strategy ~= '' then redis.call('HSET', pendingOf(request.owners[1].name), request.key, request.ref) end
  if not request.pending then return 'created' end
  removePending(request.pending)
  return { 'replaced', request.pending.job }
end

local function countAccepted(request)
  for _, owner in ipairs(request.owners) do accepted[owner.name] = (accepted[owner.name] or 0) + 1 end
  if depths[request.prefix] then depths[request.prefix] = depths[request.prefix] + 1 end
  local limit, slot, rate = slotIn(request.needs)
  if slot then claimed[slot] = { limit, rate } end
end

local function addNew(request)
  local refused = refusal(request)
  if refused then return refused end
  if request.pending and request.template.strategy ~= 'replace' then return joinPending(request) end
  local answer = accept(request)
  if depths[request.prefix] and answer == 'created' then depths[request.prefix] = depths[request.prefix] + 1 end
  return answer
end

local function addOne(request)
  if not request.once then return addNew(request) end
  local earlier = earlierAnswer(request)
  if earlier then return earlier end
  local answer = addNew(request)
  rememberAnswer(request, answer)
  return answer
end

local function addEach(requests)
  local answers = {}
  for i, request in ipairs(requests) do
    local ok, answer = pcall(addOne, request)
    answers[i] = ok and answer or { 'error', type(answer) == 'table' and answer.err or tostring(answer) }
  end
  return answers
end

-- Releases of BullMQ that have no such script release a parent when its last child is added.
local function releaseParents(requests)
  if not bull.releaseParentIfNoPendingDependencies then return end
  for _, request in ipairs(requests) do
    local rest = restOf(request)
    if rest[1] then
      local parent = rest[3]
      bull.releaseParentIfNoPendingDependencies({ rest[1], rest[1] .. ':dependencies' }, { parent.queueKey, parent.id, request.timestamp })
    end
  end
end

-- What BullMQ would refuse of a flow, known before anything is written.
local function refusalByBullMQ(request, inFlow)
  local parent = restOf(request)[1]
  if not parent then return nil end
  if not inFlow[parent] and redis.call('EXISTS', parent) == 0 then return { 'error', 'BULLMQ -5 ' .. parent } end
  local other = redis.call('HGET', request.prefix .. request.job, 'parentKey')
  if other and other ~= parent and redis.call('EXISTS', other) == 1 then return { 'error', 'BULLMQ -7 ' .. parent } end
end

local function addAllOrNone(requests)
  local inFlow = {}
  for _, request in ipairs(requests) do
    local refused = refusal(request) or refusalByBullMQ(request, inFlow)
    if refused then return { refused } end
    inFlow[request.prefix .. request.job] = true
    countAccepted(request)
  end
  local answers = {}
  for i, request in ipairs(requests) do answers[i] = accept(request) end
  releaseParents(requests)
  return answers
end

root = ARGV[1]
local add = ARGV[2] == 'all' and addAllOrNone or addEach
local answers = add(readRequests(5))
writeNoted()
if takesTurns then fair.write() end
return answers
