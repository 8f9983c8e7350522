--[[
  list-owned: a page of an owner's jobs that have not ended, in no order, as list-jobs shows them. Nothing is written.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner   [3] cursor, '0' to begin   [4] about how many
  Answers {next cursor, for each job {<queue>:<id>, its state, what factsOf answers, when it is due, ms, if it is delayed}}.
]]
root = ARGV[1]
local record = recordOf(ARGV[2])
local epoch = redis.call('HGET', record, 'epoch')
local page = redis.call('HSCAN', record, ARGV[3], 'COUNT', ARGV[4])
local answer = { page[1] }
for i = 1, #page[2], 2 do
  local ref = page[2][i]
  if string.find(ref, ':', 1, true) and page[2][i + 1] == epoch then
    local prefix, job = splitRef(ref)
    local due = redis.call('ZSCORE', prefix .. 'delayed', job)
    local state = isLocked(prefix, job) and 'running' or stateOf(prefix, job)
    answer[#answer + 1] = { ref, state, factsOf(prefix, job), due and whole(math.floor(tonumber(due) / 0x1000)) or '' }
  end
end
return answer
