--[[
  list-owners: the first names of a page, of some shards of the owners.

    KEYS[1]  any key of the owners, for its Cluster slot
    ARGV[1]  root   [2] names from here on, exclusive, or ''   [3] names that begin so, or ''   [4] how many
    ARGV[5]  first and  [6] last shard
  Answers the names, of each shard in their order.
]]
root = ARGV[1]
local after, prefix = ARGV[2], ARGV[3]
local from = after ~= '' and '(' .. after or prefix ~= '' and '[' .. prefix or '-'
local to = prefix ~= '' and '(' .. prefix .. '\255' or '+'

local found = {}
for shard = tonumber(ARGV[5]), tonumber(ARGV[6]) do
  for _, name in ipairs(redis.call('ZRANGEBYLEX', root .. '~owners~' .. shard, from, to, 'LIMIT', 0, ARGV[4])) do
    found[#found + 1] = name
  end
end
return found
