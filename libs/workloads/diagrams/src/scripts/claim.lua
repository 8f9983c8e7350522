#!lua flags=allow-oom
--[[
  claim: claims the replacement of a job that ended without a picture.

    KEYS[1]   the diagram

    ARGV[1]   the job that has ended; '' if it has none
    ARGV[2]   time limit of the claim, ms

  Answers {ask, claim}; {wait} while another process has the claim; {other} if it has another job by now, or is gone.
]]
--- @include clock
local diagram = KEYS[1]
local now = clock()
local known = redis.call('HMGET', diagram, 'link', 'job', 'u')
if not known[1] or (known[2] or '') ~= ARGV[1] then
  return { 'other' }
end
if known[3] and tonumber(known[3]) > now then
  return { 'wait' }
end
redis.call('HDEL', diagram, 'job', 'by', 'e', 'r', 'w')
redis.call('HSET', diagram, 'u', now + tonumber(ARGV[2]))
return { 'ask', redis.call('HINCRBY', diagram, 'n', 1) }
