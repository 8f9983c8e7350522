-- What BullMQ's texts find in place of `redis` where they may remove jobs: the marks of the jobs they delete are noted, whatever
-- script deletes them and however deep in a flow they are.

local store, removed = redis, {}

local function noteRemoval(command, key)
  if command ~= 'DEL' then return end
  local options = store.pcall('HGET', key, 'opts')
  if type(options) == 'string' then removed[#removed + 1] = { key = key, options = options } end
end

local redis = {
  call = function(...)
    noteRemoval(...)
    return store.call(...)
  end,
  pcall = redis.pcall,
}
