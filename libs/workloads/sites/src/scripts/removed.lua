--[[
  removed: of an old build no page is left.

    KEYS[1]   the site; :old beside it, in the same slot
    KEYS[2]   the list of sites to be tended

    ARGV[1]   the job

  Answers ok.
]]
--- @include rest
redis.call('ZREM', KEYS[1] .. ':old', ARGV[1])
rest(KEYS[1], KEYS[2])
return 'ok'
