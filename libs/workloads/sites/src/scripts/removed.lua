--[[
  removed: records that no page of a superseded build is left.

    KEYS[1]   the site; :old beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the job

  Answers ok.
]]
--- @include rest
redis.call('ZREM', KEYS[1] .. ':old', ARGV[1])
rest(KEYS[1], KEYS[2])
return 'ok'
