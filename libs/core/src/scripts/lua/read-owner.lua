--[[
  read-owner: the record of an owner, and a page of its jobs with the states they are in. Nothing is written.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner   [3] cursor, '0' to begin   [4] about how many jobs, 0 for none
  Answers {} without a record, else {epoch, its state: closed, open or 'open <ms>', time of the newest entry, number of jobs, next cursor,
  for each job: <queue>:<id>, state, name, when it was added, ms, how many of its runs have begun}.
]]
root = ARGV[1]
local record = recordOf(ARGV[2])
local known = redis.call('HMGET', record, 'epoch', 'state', 'wanted')
if not known[1] then return {} end

local function stateNow(prefix, job)
  if isLocked(prefix, job) then return 'running' end
  if redis.call('ZSCORE', prefix .. 'waiting-children', job) then return 'waiting-children' end
  return stateOf(prefix, job)
end

local page = ARGV[4] == '0' and { ARGV[3], {} } or redis.call('HSCAN', record, ARGV[3], 'COUNT', ARGV[4])
local answer = { known[1], known[2] or 'open', known[3], whole(countJobs(ARGV[2])), page[1] }
for i = 1, #page[2], 2 do
  local ref = page[2][i]
  if string.find(ref, ':', 1, true) and page[2][i + 1] == known[1] then
    local prefix, job = splitRef(ref)
    local state, facts = stateNow(prefix, job), redis.call('HMGET', prefix .. job, 'name', 'timestamp', 'ats')
    for _, value in ipairs({ ref, state, facts[1] or '', facts[2] or '0', facts[3] or '0' }) do answer[#answer + 1] = value end
  end
end
return answer
