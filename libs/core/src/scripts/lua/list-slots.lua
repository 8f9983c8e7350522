--[[
  list-slots: a page of the slots that have a limit, in no order.

    KEYS[1]  the list of slots
    ARGV[1]  cursor, '0' to begin   [2] about how many
  Answers {next cursor, the slots}.
]]
local page, slots = redis.call('ZSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2]), {}
for i = 1, #page[2], 2 do slots[#slots + 1] = page[2][i] end
return { page[1], slots }
