--[[
  switch: makes an offered build current, unless one of this version or a later one is.

  The build that readers no longer need is recorded as superseded: the one before the previous one, or this one.

    KEYS[1]   the site; :offers and :old beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the job, which is completed
    ARGV[2]   the version of the site that it shows

  Answers switched, older, or none if it was not offered.
]]
--- @include clock
--- @include rest
local site, due = KEYS[1], KEYS[2]
local job, version = ARGV[1], tonumber(ARGV[2])
local known = redis.call('HMGET', site, 'c', 'cv', 'p', 'g')
if known[4] or redis.call('SREM', site .. ':offers', job) == 0 then
  return 'none'
end
local shown, previous = known[1], known[3]
local isNewer = version > tonumber(known[2] or '-1')
local old = job
if isNewer then
  redis.call('HSET', site, 'c', job, 'cv', version)
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
rest(site, due)
return isNewer and 'switched' or 'older'
