--[[
  list-owners: the next names of some of the lists of owners.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root   [2] names that begin so, or ''   [3] how many of each list
    ARGV[4]… pairs: a list, and the name behind which it is read, or ''
  Answers the names of each of these lists, in their order.
]]
root = ARGV[1]
local prefix = ARGV[2]
local first, to = prefix ~= '' and '[' .. prefix or '-', prefix ~= '' and '(' .. prefix .. '\255' or '+'

local found = {}
for i = 4, #ARGV, 2 do
  local from = ARGV[i + 1] ~= '' and '(' .. ARGV[i + 1] or first
  found[#found + 1] = redis.call('ZRANGEBYLEX', listOf(ARGV[i]), from, to, 'LIMIT', 0, ARGV[3])
end
return found
