--[[
  drop: a build that was offered will never count: its job has ended otherwise.

    KEYS[1]   the site; :offers beside it, in the same slot
    KEYS[2]   the list of sites to be tended

    ARGV[1]   the job
    ARGV[2]   what it was offered as, `<version>|<fence>`; a later offer stays

  Answers ok.
]]
--- @include rest
if redis.call('HGET', KEYS[1] .. ':offers', ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1] .. ':offers', ARGV[1])
end
rest(KEYS[1], KEYS[2])
return 'ok'
