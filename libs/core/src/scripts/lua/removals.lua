-- What BullMQ's scripts have deleted leaves the index, its slots and its lines.

-- Jobs that had ended do not push the others out of the history.
local function forgetJob(mark, ref, known, reason)
  local hadEnded = redis.call('HEXISTS', recordOf(mark.owner), ref) == 0
  leaveAll(mark, ref)
  freeSlots(mark, ref)
  if hadEnded then return end
  remember(ownersOfMark(mark), ref, reason)
  noteGone(ref, ownersOfMark(mark), known, reason, 'waiting')
end

local function forgetRemoved(reason)
  for _, job in ipairs(removed) do
    local mark = markIn(job.options)
    if mark then forgetJob(mark, string.sub(job.key, #root + 2), job.known, reason) end
  end
  writeGone()
end
