--[[
  end-expired: a turn of a scheduler came too late to start. Its worker has planned the next one; this one ends.

    KEYS[1]  the job
    ARGV[1]  root   [2] prefix of the queue   [3] job   [4] token
  Answers 'expired', 'cancelled' if an owner was cancelled, or BullMQ's error code.
]]
root = ARGV[1]
local prefix, job, token, timestamp = ARGV[2], ARGV[3], ARGV[4], msText(nowUs())
local ref, mark = refOf(prefix, job), markOfJob(prefix, job)
if mark and not allCurrent(mark, ref) then return endCancelled(prefix, job, timestamp, token, mark, ref) end

local answer = failUnkept(prefix, job, timestamp, token, 'expired')
if isError(answer) then return answer end
if mark then forget(mark, ref, 'expired') end
return 'expired'
