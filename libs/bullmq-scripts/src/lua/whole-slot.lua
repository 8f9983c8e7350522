-- A script names a few of its keys only. While its hash slot moves to another node of a Cluster the store refuses the first command on a
-- key that is not there, be it in the middle of the script. Two keys that never exist let it refuse the first command of all, on both nodes:
-- nothing is half done, and the caller tries again until the slot has moved.
if string.find(KEYS[1], '{', 1, true) then redis.call('EXISTS', KEYS[1] .. '\0', KEYS[1] .. '\0\0') end
