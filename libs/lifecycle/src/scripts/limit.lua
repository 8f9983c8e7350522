-- How long a key's own limit is kept after the key was last used: long enough for work that comes once a week, and no
-- longer, since callers make up keys.
local LIMIT_KEEP_MS = 8 * 86400000

-- The limit that belongs to a caller's key, whatever a job of it was accepted with. Keys of kinds and of deduplication have none.
-- Calls with limit 0 grant nothing, and ask for nothing.
local function limit_of(slot, given)
  local own = given > 0 and redis.call('GET', slot .. ':limit')
  return own and number(own) or given
end

local function keep_limit(slot)
  redis.call('PEXPIRE', slot .. ':limit', LIMIT_KEEP_MS)
end
