--[[
  switch: makes this build current, unless a newer one is.

  The build that readers no longer need is recorded as superseded: the one before the previous one, or this one.

    KEYS[1]   the site; :offers and :old beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the job whose run counts

  Answers switched, older, or none if it was not offered.
]]
--- @include clock
--- @include rest
local site, due = KEYS[1], KEYS[2]
local job = ARGV[1]
local version, fence = string.match(redis.call('HGET', site .. ':offers', job) or '', '^(%d+)|(%d+)$')
if not version then
  return 'none'
end
local known = redis.call('HMGET', site, 'c', 'cv', 'cf', 'g', 'p')
if known[4] then
  return 'none'
end
version, fence = tonumber(version), tonumber(fence)
local current, currentFence = tonumber(known[2] or '-1'), tonumber(known[3] or '-1')
local isNewer = version > current or (version == current and fence > currentFence)
local shown, previous = known[1], known[5]
local old = job
if isNewer then
  redis.call('HSET', site, 'c', job, 'cv', version, 'cf', fence)
  old = nil
  if shown and shown ~= job then
    redis.call('HSET', site, 'p', shown)
    old = previous ~= job and previous
  end
elseif job == shown or job == previous then
  -- A run that lost its lock has offered this build once more.
  old = nil
end
if old then
  redis.call('ZADD', site .. ':old', clock(), old)
end
redis.call('HDEL', site .. ':offers', job)
rest(site, due)
return isNewer and 'switched' or 'older'
