--[[
  The order in which an owner of several partitions is closed and reopened. The home partition numbers these changes; in the others a
  reopening that is older than what they have seen changes nothing.

    <root>~turn~<owner>  string: number of the newest change, from the clock of the home partition in µs

  A change is given '' if there is one partition, 'home' in the home partition, and its number in the others.
]]
local function takeTurn(owner, given, keepMs)
  if given == '' then return '' end
  local known = tonumber(redis.call('GET', root .. '~turn~' .. owner) or '0')
  local turn = given == 'home' and math.max(known + 1, nowUs()) or tonumber(given)
  if turn < known then return nil end
  redis.call('SET', root .. '~turn~' .. owner, whole(turn), 'PX', keepMs)
  return whole(turn)
end

-- Is this the partition that decides whether the change is made?
local function decides(given)
  return given == '' or given == 'home'
end
