-- What BullMQ's scripts have deleted leaves the index, its slots and its lines.

local function forgetRemoved(reason)
  for _, job in ipairs(removed) do
    local mark = markIn(job.options)
    if mark then forget(mark, string.sub(job.key, #root + 2), reason) end
  end
end
