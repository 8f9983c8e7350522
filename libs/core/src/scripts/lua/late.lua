--[[
  What is added some time after it was asked for, as the rows of an outbox are. A cancel that came in between ends it before it begins, also
  if the owner is open again.

    <root>~takes-late     string: a program adds such jobs under this prefix; without it nothing more is written here
    <root>~ended~<owner>  string: as of when the owner was last cancelled, µs; as long as a receipt is kept
]]
-- Few steps come late: these functions are made when one does.
local late = whenUsed(function(late)
  local function endedKey(owner)
    return root .. '~ended~' .. owner
  end

  function late.isEnded(owner, askedAt)
    local ended = tonumber(redis.call('GET', endedKey(owner)) or '0')
    return ended > askedAt * 1000
  end

  -- @param askedAt when the cancel was asked for, ms: what was asked for later is not ended by it
  function late.noteEnd(owner, askedAt, keepMs)
    if redis.call('EXISTS', root .. '~takes-late') == 0 then return end
    local ended = tonumber(redis.call('GET', endedKey(owner)) or '0')
    local asOf = math.min(nowUs(), askedAt and math.floor(askedAt * 1000) or nowUs())
    redis.call('SET', endedKey(owner), whole(math.max(ended, asOf)), 'PX', keepMs)
  end
end)
