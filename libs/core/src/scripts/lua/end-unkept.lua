--[[
  end-unkept: a job is not to be done. A turn of a scheduler came too late to start, and its worker has planned the next one; or its
  processor found that there is nothing to do.

    KEYS[1]  the job
    ARGV[1]  root   [2] prefix of the queue   [3] job   [4] token   [5] 'expired' or 'skipped'   [6] why
  Answers the reason, 'cancelled' if an owner was cancelled, or BullMQ's error code.
]]
root = ARGV[1]
local prefix, job, token, timestamp = ARGV[2], ARGV[3], ARGV[4], msText(nowUs())
local ref, mark = refOf(prefix, job), markOfJob(prefix, job)
if mark and not allCurrent(mark, ref) then return endCancelled(prefix, job, timestamp, token, mark, ref) end

local answer = failUnkept(prefix, job, timestamp, token, ARGV[5], 'active', ARGV[6])
if isError(answer) then return answer end
if mark then forget(mark, ref, ARGV[5]) end
return ARGV[5]
