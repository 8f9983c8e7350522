#!lua
--[[
  slots: the limit of a caller's key, which all jobs of the key share.

  The first use sets it. A use with another limit is refused until an administrator has changed it. It expires when the key was not
  used for LIMIT_KEEP_MS; the next use is a first one.

    KEYS[1]   holders of the key's slots; :limit beside it, in the same slot

    ARGV[1]   check  before a job is accepted; writes nothing     claim  for a job that is accepted: sets the limit at the first use
              set    whatever it was
    ARGV[2]   the limit

  Answers {'free'}, or {'other', the limit that it has}, to check; {'claimed'}; {'set', the limit that it had, '' for none}.
]]
--- @include each
--- @include limit
local slot, act, limit = KEYS[1], ARGV[1], number(ARGV[2])
local present = redis.call('GET', slot .. ':limit')

if act == 'check' then
  return present and number(present) ~= limit and { 'other', present } or { 'free' }
end

if act == 'set' or not present then
  redis.call('SET', slot .. ':limit', whole(limit))
end
keep_limit(slot)
if act == 'claim' then
  return { 'claimed' }
end
return { 'set', present or '' }
