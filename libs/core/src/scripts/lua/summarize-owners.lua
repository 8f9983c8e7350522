--[[
  summarize-owners: the states of these owners, and how many jobs they have.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root   [2]… the owners
  Answers for each that has a record: name, state, number of jobs, time of the newest entry.
]]
root = ARGV[1]
local answer = {}
for i = 2, #ARGV do
  local known = redis.call('HMGET', recordOf(ARGV[i]), 'wanted', 'state')
  if known[1] then
    local state = known[2] == 'closed' and 'closed' or 'open'
    for _, value in ipairs({ ARGV[i], state, whole(countJobs(ARGV[i])), known[1] }) do answer[#answer + 1] = value end
  end
end
return answer
