-- What BullMQ's texts find in place of `redis` where they may remove jobs: the marks of the jobs they delete are noted, whatever
-- script deletes them and however deep in a flow they are.

local store, removed = redis, {}

local function noteRemoval(command, key)
  if command ~= 'DEL' then return end
  local known = store.pcall('HMGET', key, 'name', 'timestamp', 'processedOn', 'atm', 'opts')
  if type(known[5]) == 'string' then removed[#removed + 1] = { key = key, options = known[5], known = known } end
end

local redis = {
  call = function(...)
    noteRemoval(...)
    return store.call(...)
  end,
  pcall = redis.pcall,
}
