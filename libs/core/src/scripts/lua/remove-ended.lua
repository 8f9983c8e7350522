--[[
  remove-ended: removes a job that has ended, unless it was retried since it was read.

    KEYS[1]  the job
    ARGV[1]  root   [2] prefix of the queue   [3] job   [4] `completed` or `failed`   [5] when it ended, ms   [6] why it goes
    ARGV[7]  the same in one word, for its history: `retention` or `removed`
  Answers 1 if it was removed.
]]
root = ARGV[1]

-- Jobs that had ended do not push the others out of the history of an owner.
local function rememberIfRoom(owners, ref)
  for _, owner in ipairs(owners) do
    local length = redis.call('LLEN', root .. '~history~' .. owner.name)
    if length < MOST_REMEMBERED then remember({ owner }, ref, ARGV[7]) end
  end
end

local prefix, job = ARGV[2], ARGV[3]
if tonumber(redis.call('ZSCORE', prefix .. ARGV[4], job) or '') ~= tonumber(ARGV[5]) then return 0 end
local described, mark = describe(prefix, job, true), markOfJob(prefix, job)
local answer = bull.removeJob(removeJobKeys(prefix, job), { job, '0', prefix })
if ARGV[7] == 'removed' and mark then rememberIfRoom(ownersOfMark(mark), refOf(prefix, job)) end
noteGone(refOf(prefix, job), mark and ownersOfMark(mark) or {}, described, ARGV[7], ARGV[4], nil, ARGV[6])
forgetRemoved('removed')
return answer
