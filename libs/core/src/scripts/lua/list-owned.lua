--[[
  list-owned: a page of an owner's jobs that have not ended, in no order. Nothing is written.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner   [3] cursor, '0' to begin   [4] about how many
    ARGV[5]  'facts' for jobs that were not cancelled, as list-jobs shows them; 'under-way' for those that run or were cancelled
  Answers {next cursor, for each of these jobs {<queue>:<id>, its state, '1' if it was cancelled, what factsOf answers, when it is due, ms, if
  it is delayed}}; without the last two for 'under-way'.
]]
root = ARGV[1]
local record = recordOf(ARGV[2])
local epoch = redis.call('HGET', record, 'epoch')
local page = redis.call('HSCAN', record, ARGV[3], 'COUNT', ARGV[4])
local answer = { page[1] }

local function show(ref, isCancelled)
  local prefix, job = splitRef(ref)
  local runs = isLocked(prefix, job)
  if ARGV[5] == 'under-way' then return (runs or isCancelled) and { ref, runs and 'running' or '', isCancelled and '1' or '' } or nil end
  if isCancelled then return nil end
  local due = redis.call('ZSCORE', prefix .. 'delayed', job)
  local state = runs and 'running' or stateOf(prefix, job)
  return { ref, state, '', factsOf(prefix, job), due and whole(math.floor(tonumber(due) / 0x1000)) or '' }
end

for i = 1, #page[2], 2 do
  local ref = page[2][i]
  if string.find(ref, ':', 1, true) then answer[#answer + 1] = show(ref, page[2][i + 1] ~= epoch) end
end
return answer
