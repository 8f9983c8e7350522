--[[
  scan-owners: a page of the owners of a type that take jobs and have some, list by list: it costs what it reads, however many owners
  there are.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root   [2] list   [3] names of the list from here on, exclusive, or ''   [4] type, with its colon   [5] how many names
  Answers the next list and name, '' after the last; then for each owner: name, epoch, time of the newest entry.
]]
local LISTS, LISTS_IN_ONE_STEP = 1000, 250

root = ARGV[1]
local list, after, most, seen = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[5]), 0
local last, answer = math.min(list + LISTS_IN_ONE_STEP, LISTS), { '', '' }
while list < last and seen < most do
  local from = after ~= '' and '(' .. after or '[' .. ARGV[4]
  local names = redis.call('ZRANGEBYLEX', listOf(string.format('%03d', list)), from, '(' .. ARGV[4] .. '\255', 'LIMIT', 0, most - seen)
  for _, name in ipairs(names) do
    local known = redis.call('HMGET', recordOf(name), 'epoch', 'wanted', 'state')
    if known[1] and known[3] ~= 'closed' and countJobs(name) > 0 then
      for _, value in ipairs({ name, known[1], known[2] }) do answer[#answer + 1] = value end
    end
  end
  seen, after = seen + #names, names[#names]
  if seen < most then list, after = list + 1, '' end
end
if list < LISTS then answer[1], answer[2] = whole(list), after end
return answer
