--[[
  count-under-way: which jobs of an owner run, and which were cancelled and are still there; a page at a time. Nothing is written.

    KEYS[1]  record of the owner
    ARGV[1]  root   [2] owner   [3] cursor, '0' to begin   [4] about how many jobs
  Answers {next cursor, for each of these jobs: <queue>:<id>, '1' if it runs, '1' if it was cancelled}.
]]
root = ARGV[1]
local record = recordOf(ARGV[2])
local epoch = redis.call('HGET', record, 'epoch')

local page = redis.call('HSCAN', record, ARGV[3], 'COUNT', ARGV[4])
local answer = { page[1] }
for i = 1, #page[2], 2 do
  local ref = page[2][i]
  if string.find(ref, ':', 1, true) then
    local runs, isCancelled = isLocked(splitRef(ref)), page[2][i + 1] ~= epoch
    if runs or isCancelled then
      for _, value in ipairs({ ref, runs and '1' or '', isCancelled and '1' or '' }) do answer[#answer + 1] = value end
    end
  end
end
return answer
