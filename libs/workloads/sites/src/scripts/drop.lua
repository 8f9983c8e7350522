--[[
  drop: removes the offer of a build that will never count, because its job ended otherwise.

    KEYS[1]   the site; :offers beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the job
    ARGV[2]   the offer to remove, `<version>|<fence>`; a later offer of the job stays

  Answers ok.
]]
--- @include rest
if redis.call('HGET', KEYS[1] .. ':offers', ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1] .. ':offers', ARGV[1])
end
rest(KEYS[1], KEYS[2])
return 'ok'
