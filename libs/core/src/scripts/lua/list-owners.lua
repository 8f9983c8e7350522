--[[
  list-owners: the first names of a page, of some of the lists of owners.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root   [2] names from here on, exclusive, or ''   [3] names that begin so, or ''   [4] how many
    ARGV[5]  first and  [6] last list
  Answers the names, of each list in their order.
]]
root = ARGV[1]
local after, prefix = ARGV[2], ARGV[3]
local from = after ~= '' and '(' .. after or prefix ~= '' and '[' .. prefix or '-'
local to = prefix ~= '' and '(' .. prefix .. '\255' or '+'

local found = {}
for list = tonumber(ARGV[5]), tonumber(ARGV[6]) do
  for _, name in ipairs(redis.call('ZRANGEBYLEX', listOf(string.format('%03d', list)), from, to, 'LIMIT', 0, ARGV[4])) do
    found[#found + 1] = name
  end
end
return found
