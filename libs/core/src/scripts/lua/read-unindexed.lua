--[[
  read-unindexed: a page of the jobs that wait in one of BullMQ's sets or lists, and what those among them are that are in no index: those of
  plain producers, and those that a program that knows no owners has retried.
  The newest, or the last to come, stand first: what workers take meanwhile stands behind the page and moves nothing on it.

    KEYS[1]  a list or sorted set of the queue
    ARGV[1]  root   [2] prefix of the queue   [3] from this place   [4] how many
  Answers {number of jobs on the page, for each job in no index: id, name, data, options}; of one that has a mark only the id, and ''.
]]
root = ARGV[1]
local prefix, from, to = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[3]) + tonumber(ARGV[4]) - 1
local isList = redis.call('TYPE', KEYS[1])['ok'] == 'list'
local page = redis.call(isList and 'LRANGE' or 'ZREVRANGE', KEYS[1], from, to)
local answer = { #page }

local function add(...)
  for i = 1, 4 do answer[#answer + 1] = (select(i, ...)) or '' end
end

for _, job in ipairs(page) do
  local known = redis.call('HMGET', prefix .. job, 'name', 'data', 'opts')
  local mark = known[3] and markIn(known[3])
  if known[3] and not mark then
    add(job, known[1], known[2], known[3])
  elseif mark and redis.call('HEXISTS', recordOf(mark.owner), refOf(prefix, job)) == 0 then
    add(job)
  end
end
return answer
