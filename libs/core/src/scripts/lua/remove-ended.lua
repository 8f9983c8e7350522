--[[
  remove-ended: removes a job that has ended, unless it was retried since it was read.

    KEYS[1]  the job
    ARGV[1]  root   [2] prefix of the queue   [3] job   [4] `completed` or `failed`   [5] when it ended, ms   [6] why it goes
    ARGV[7]  the same in one word, for its history: `retention` or `removed`
  Answers 1 if it was removed.
]]
root = ARGV[1]
local prefix, job = ARGV[2], ARGV[3]
if tonumber(redis.call('ZSCORE', prefix .. ARGV[4], job) or '') ~= tonumber(ARGV[5]) then return 0 end
local described, mark = describe(prefix, job, true), markOfJob(prefix, job)
local answer = bull.removeJob(removeJobKeys(prefix, job), { job, '0', prefix })
noteGone(refOf(prefix, job), mark and ownersOfMark(mark) or {}, described, ARGV[7], ARGV[4], nil, ARGV[6])
forgetRemoved('removed')
return answer
