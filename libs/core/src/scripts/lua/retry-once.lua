--[[
  retry-once: a failed job waits again, under the present epochs of its owners, once for each request. A job that failed again since it was
  read, or that this request or a later one has retried, stays as it is; so does a job that is refused, with its error.

    KEYS[1]  the job
    ARGV[1]  root   [2] prefix of the queue   [3] job   [4] when it failed, ms
    ARGV[5]  id of the request, or ''. The id of a later request sorts behind it   [6] 1 to count its attempts from 0
    ARGV[7]  entry for its log, or ''
  Answers {'retried'}, {'repeated'} for a job that the request has retried, {'changed'}, {'closed', owner} or {'pending', job}.
]]
local MOST_LOGGED = 300

root = ARGV[1]
local prefix, job, request, entry = ARGV[2], ARGV[3], ARGV[5], ARGV[7]
local options, retriedBy = unpack(redis.call('HMGET', KEYS[1], 'opts', 'retriedBy'))
if request ~= '' and retriedBy == request then return { 'repeated' } end
local isLater = request ~= '' and retriedBy and retriedBy > request
local failedAt = tonumber(redis.call('ZSCORE', prefix .. 'failed', job) or '')
if isLater or not options or failedAt ~= tonumber(ARGV[4]) then return { 'changed' } end

local push = string.find(options, '"lifo":true', 1, true) and 'RPUSH' or 'LPUSH'
-- The number of its starts stays: the fence of a run never goes back.
local args = { job, push, 'failedReason', 'failed', ARGV[6], '0' }
local answer = waitAgain(prefix, job, markIn(options), reprocessJobKeys(prefix, job, 'failed'), args)
if type(answer) == 'table' then return answer end
if answer ~= 1 then return { 'changed' } end
if request ~= '' then redis.call('HSET', KEYS[1], 'retriedBy', request) end
if entry ~= '' then
  redis.call('RPUSH', KEYS[1] .. ':logs', entry)
  redis.call('LTRIM', KEYS[1] .. ':logs', -MOST_LOGGED, -1)
end
writeNoted()
return { 'retried' }
