--[[
  look-at-owners: since when some of the jobs of these owners have been there, and how many of them run. Nothing is written.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root   [2] how many jobs of each owner are looked at   [3]… the owners
  Answers for each owner {when the oldest of these jobs was added, ms, '' if none was, how many there are, run, were cancelled}.
]]
root = ARGV[1]
local most = tonumber(ARGV[2])

-- A page of a small hash is all of it, however few are asked for.
local function jobsOf(record)
  local page, jobs = redis.call('HSCAN', record, '0', 'COUNT', most)[2], {}
  for i = 1, #page, 2 do
    if #jobs < most and string.find(page[i], ':', 1, true) then jobs[#jobs + 1] = { ref = page[i], epoch = page[i + 1] } end
  end
  return jobs
end

local function lookAt(record)
  local epoch, oldest, running, cancelled = redis.call('HGET', record, 'epoch'), nil, 0, 0
  local jobs = jobsOf(record)
  for _, entry in ipairs(jobs) do
    local prefix, job = splitRef(entry.ref)
    local times = redis.call('HMGET', prefix .. job, 'timestamp', 'processedOn')
    local added, hasBegun = tonumber(times[1] or ''), times[2]
    if hasBegun and isLocked(prefix, job) then running = running + 1 end
    if entry.epoch ~= epoch then
      cancelled = cancelled + 1
    elseif added and (not oldest or added < oldest) then
      oldest = added
    end
  end
  return { oldest and whole(oldest) or '', #jobs, running, cancelled }
end

local answer = {}
for i = 3, #ARGV do answer[#answer + 1] = lookAt(recordOf(ARGV[i])) end
return answer
