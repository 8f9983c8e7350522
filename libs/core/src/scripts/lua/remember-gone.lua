--[[
  remember-gone: what is known of jobs that a sweep removes.

    KEYS[1]  any key, for its Cluster slot
    ARGV[1]  root   then for each job: queue; id; what is remembered of it, as in noteGone
]]
root = ARGV[1]
for i = 2, #ARGV, 3 do keepGone(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
writeGone()
