#!lua flags=allow-oom
--[[
  marker: does the store still have what this process saw in it? A store that took back what it had answered does not.

  One of the processes writes a marker every second; each process looks for the one it saw last. One that misses it writes a marker that
  says so, so that the others, who may have seen none of those that are lost, know it too.

    KEYS[1]   the markers, newest first: `<number>|<run id>|<written at, ms>`, and `|<written at, ms, of the newest marker
              that the store kept>` behind it, 0 for none, when a marker was missed

    ARGV[1]   the marker that the caller saw last, '' for none
    ARGV[2]   run id of the caller
    ARGV[3]   how old the newest marker is, ms, before another is written; ARGV[4] how many are kept, and ARGV[5] how long, ms
    ARGV[6]   how far the clocks of two servers may differ, ms
    ARGV[7…]  the markers that say so which the caller knows: they tell of rollbacks before this one

  Answers {newest marker, missed, markers that say so…}; missed is '' when nothing is, else when the newest marker was written that
  the store kept, 0 for none.
]]
local saw, runId, every = ARGV[1], ARGV[2], tonumber(ARGV[3])
local kept, keepMs, skew = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local markers = redis.call('LRANGE', KEYS[1], 0, kept - 1)

local function read(marker)
  local number, at, keptAt = string.match(marker or '', '^(%d+)|[^|]*|(%d+)|?(%d*)$')
  return tonumber(number), tonumber(at), keptAt
end

local function write(keptAt)
  local number = (read(markers[1]) or 0) + 1
  local marker = string.format('%.0f|%s|%.0f', number, runId, now)
  if keptAt then
    marker = marker .. '|' .. keptAt
  end
  redis.call('LPUSH', KEYS[1], marker)
  redis.call('LTRIM', KEYS[1], 0, kept - 1)
  redis.call('PEXPIRE', KEYS[1], keepMs)
  return marker
end

local known, saying = {}, {}
for i = 7, #ARGV do
  known[ARGV[i]] = true
end
for _, marker in ipairs(markers) do
  local _, _, keptAt = read(marker)
  if keptAt ~= '' then
    saying[#saying + 1] = marker
  end
end

local missed = ''
if saw ~= '' then
  local sawNumber, sawAt = read(saw)
  local oldest = read(markers[#markers])
  local place, said, newestKept
  for i, marker in ipairs(markers) do
    local _, at, keptAt = read(marker)
    if marker == saw then
      place = i
      break
    end
    if keptAt ~= '' and at >= sawAt - skew and not known[marker] then
      said = said or keptAt
    elseif at <= sawAt and not newestKept then
      newestKept = string.format('%.0f', at)
    end
  end
  -- Of a process that was away for longer than markers are kept, nothing is known.
  local isForgotten = oldest and sawNumber < oldest
  if place or isForgotten then
    missed = place and said or ''
  else
    missed = said or newestKept or '0'
    if not said then
      local marker = write(missed)
      return { marker, missed, marker, unpack(saying) }
    end
  end
end

local _, newestAt = read(markers[1])
local newest = markers[1]
if not newestAt or now - newestAt >= every or now < newestAt then
  newest = write()
end
return { newest, missed, unpack(saying) }
