--[[
  drop: takes a build off the lists of work, because its job ended without a build, or no page of it is left.

    KEYS[1]   the site; :offers and :old beside it, in the same slot
    KEYS[2]   the due list of its sites

    ARGV[1]   the job

  Answers ok.
]]
--- @include rest
redis.call('SREM', KEYS[1] .. ':offers', ARGV[1])
redis.call('ZREM', KEYS[1] .. ':old', ARGV[1])
rest(KEYS[1], KEYS[2])
return 'ok'
