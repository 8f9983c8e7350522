-- What a list of jobs shows of one. The text of a failure may be very long: the list has, and searches, its beginning.
local MOST_OF_A_FAILURE = 2000

-- Answers {name, when it was added, when it began, when it ended, ended attempts, failure, mark, the operation that retried it last}; of a job that is gone, nothing.
local function factsOf(prefix, job)
  local known = redis.call('HMGET', prefix .. job, 'name', 'timestamp', 'processedOn', 'finishedOn', 'atm', 'failedReason', 'opts', 'retriedBy')
  if not known[2] then return {} end
  for i = 1, 8 do known[i] = known[i] or '' end
  known[6] = string.sub(known[6], 1, MOST_OF_A_FAILURE)
  known[7] = string.match(known[7], '^{"mooring":"([^"]*)"') or ''
  return known
end
