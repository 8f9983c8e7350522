-- The state of a job that has not ended, as its owner's receipt and list have it.

local function isLocked(prefix, job)
  return redis.call('EXISTS', prefix .. job .. ':lock') == 1
end

local function stateOf(prefix, job)
  if not redis.call('ZSCORE', prefix .. 'delayed', job) then return 'waiting' end
  return redis.call('HGET', prefix .. job, 'atm') and 'retrying' or 'delayed'
end
