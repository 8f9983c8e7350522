--[[
  cancel-job: one job is cancelled, and those below it in its flow that belong to the same owner. The owner itself is not.

    KEYS[1]  the job
    ARGV[1]  root   [2] the job, <queue>:<id>   [3] cancelId   [4] reason   [5] by   [6] keep the receipt for, ms
  Answers {'cancelled'}, {'repeated'}, {'taken'}, or {'unknown'} for a job that has ended or has no owner.
]]
root = ARGV[1]
local cancelId = ARGV[3]
local mark = markOfJob(splitRef(ARGV[2]))
local earlier = redis.call('HMGET', receiptOf(cancelId), 'owner', 'jobs')
if earlier[1] then
  local isSame = string.match((earlier[2] or '') .. '\n', '^([^\n]*)\n') == ARGV[2]
  return { isSame and 'repeated' or 'taken' }
end
if not mark or not isCurrent(mark.owner, mark.epoch, ARGV[2]) then return { 'unknown' } end

local owner, refs = mark.owner, {}

local function collect(ref)
  local prefix, job = splitRef(ref)
  if redis.call('HEXISTS', recordOf(owner), ref) == 1 then refs[#refs + 1] = ref end
  for _, child in ipairs(redis.call('SMEMBERS', prefix .. job .. ':dependencies')) do
    collect(string.sub(child, #root + 2))
  end
end

collect(ARGV[2])
local jobs = table.concat(refs, '\n')
openReceipt(cancelId, nowUs(), ARGV[6], { 'owner', owner, 'from', '0', 'jobs', jobs, 'reason', ARGV[4], 'by', ARGV[5] })
redis.call('HSET', recordOf(owner), 'cancel', cancelId)
for _, ref in ipairs(refs) do
  redis.call('HSET', recordOf(owner), ref, '0')
end
cleanNamed(owner, cancelId, jobs, '0')
return { 'cancelled' }
