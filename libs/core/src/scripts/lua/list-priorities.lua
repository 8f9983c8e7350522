--[[
  list-priorities: the newest of BullMQ's prioritized jobs, by their priorities. A score is the priority, and a number that grows with each job
  of the queue. Nothing is written.

    KEYS[1]  the sorted set of prioritized jobs
    ARGV[1]  root   [2] only jobs below this number   [3] how many jobs of each priority   [4] how many priorities
    ARGV[5]… pairs: a priority, and a number below which it is read. Or one priority: from there down, whatever priorities there are
  Answers {where to go on, '' after the last priority; for each priority that has such jobs {priority, id and number of each, the newest first}}.
]]
local behind, most, found = ARGV[2], ARGV[3], {}
local BAND = 0x100000000

-- The newest jobs of a priority, or else of the next lower one that there is.
local function read(priority, below)
  local top = '(' .. whole(priority * BAND + below)
  local page = redis.call('ZREVRANGEBYSCORE', KEYS[1], top, '-inf', 'WITHSCORES', 'LIMIT', 0, most)
  if not page[1] then return nil end
  local jobs = { math.floor(tonumber(page[2]) / BAND) }
  for i = 1, #page, 2 do
    local score = tonumber(page[i + 1])
    if math.floor(score / BAND) ~= jobs[1] then break end
    jobs[#jobs + 1] = page[i]
    jobs[#jobs + 1] = score - jobs[1] * BAND
  end
  return jobs
end

if #ARGV > 5 then
  for i = 5, #ARGV, 2 do
    local jobs = read(tonumber(ARGV[i]), tonumber(ARGV[i + 1]))
    if jobs and jobs[1] == tonumber(ARGV[i]) then found[#found + 1] = jobs end
  end
  return { '', unpack(found) }
end

local priority = tonumber(ARGV[5])
for _ = 1, tonumber(ARGV[4]) do
  local jobs = read(priority, tonumber(behind))
  if not jobs then return { '', unpack(found) } end
  -- The first ones of a lower priority may be on earlier pages.
  if jobs[3] >= tonumber(behind) then
    priority = jobs[1]
  else
    found[#found + 1] = jobs
    priority = jobs[1] - 1
  end
end
return { whole(priority), unpack(found) }
