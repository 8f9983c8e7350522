#!lua flags=allow-oom
--[[
  sweep: these owners have places for jobs. One that was about to leave the list stays.

    KEYS[i]   the part of the list that the i-th owner is in: zset of owners, all of one score, in the order of their
              names; :leaving beside it, in the same slot

    ARGV      the owner, for each key

  Answers for each: {'listed'}, or {'error', text}.
]]
--- @include each
return each(function(list, at)
  redis.call('HDEL', list .. ':leaving', ARGV[at])
  redis.call('ZADD', list, 0, ARGV[at])
  return { 'listed' }
end, 1, 1)
