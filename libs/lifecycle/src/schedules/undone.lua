#!lua flags=allow-oom
--[[
  schedules: what is left undone of the changes to a schedule: owners with whom it is noted to no purpose.

    KEYS[1]   the book; :<schedule> beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   the schedule
    ARGV[3]   look, and then the number of the change up to which it is asked; '' for those that are undone for too long,
              of which none may be finished any more
              done, and then, as JSON, an owner and what was answered of it, and so on

  Answers of look each owner and the number of its change; of done nothing.
]]
--- @include each
--- @include schedule
if #ARGV ~= 4 or (ARGV[3] ~= 'look' and ARGV[3] ~= 'done') then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, member, act = clock(ARGV[1]), ARGV[2], ARGV[3]
local book, hash = KEYS[1], KEYS[1] .. ':' .. member
redis.call('ZSCORE', book, member)
redis.call('HLEN', hash)

if act == 'done' then
  local answered = texts(ARGV[4])
  for i = 1, #answered, 2 do
    local change = string.match(redis.call('HGET', hash, 'p' .. answered[i]) or '', '^%d+')
    if change == answered[i + 1] then
      redis.call('HDEL', hash, 'p' .. answered[i])
    end
  end
  lookLater(book, member, hash, now)
  return {}
end

local upTo, found, own = ARGV[4] ~= '' and number(ARGV[4]), {}, {}
local fields = redis.call('HGETALL', hash)
for _, owner in ipairs(texts(redis.call('HGET', hash, 'o') or '[]')) do
  own[owner] = true
end
for i = 1, #fields, 2 do
  local change, at = string.match(fields[i + 1], '^(%d+)|(%d+)$')
  if string.sub(fields[i], 1, 1) == 'p' then
    local isMeant = upTo and tonumber(change) <= upTo or not upTo and tonumber(at) + UNDONE <= now
    if isMeant and own[string.sub(fields[i], 2)] then
      -- The schedule is its own after all, as it was before a change that did not come to be.
      redis.call('HDEL', hash, fields[i])
    elseif isMeant then
      found[#found + 1] = string.sub(fields[i], 2)
      found[#found + 1] = change
    end
  end
end
if not upTo and #found > 0 then
  -- One that was only slow finds itself overtaken, and begins anew.
  redis.call('HSET', hash, 'b', whole(nextChange(hash, now)))
end
lookLater(book, member, hash, now)
return found
