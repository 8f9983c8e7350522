-- The turns of new jobs that say `fair`.

local takesTurns = false

-- The score of a job that waits from now on; one that is delayed, or has children, takes its turn later.
local function scoreOf(request)
  local said, priority = request.template.options['fair'], request.template.options['priority']
  if not said or #request.owners == 0 then return nil end
  takesTurns = true
  fair.stepOf(request.prefix)
  if request.template.sort ~= 'addPrioritizedJob' then return nil end
  local turn = { priority = priority, owner = fair.ownerIn(request.owners, said['by'] or ''), weight = said['weight'] or 1 }
  if request.pending then return fair.replace(request.prefix, turn, request.pending) end
  return fair.take(request.prefix, turn)
end
