--[[
  What was answered to a request with an idempotency key. It is written in the step that adds the job: who repeats the request finds the
  answer, or nothing was added.

    <root>~once~<digest of the key>  JSON: digest of the request, id of its job, word and detail of the answer; for a day
]]
local ANSWER_KEPT_MS = 24 * 3600 * 1000
local ACCEPTED = { created = true, existing = true, skipped = true, coalesced = true, replaced = true }

local function onceOf(request)
  local key, digest = string.match(request.once, '^([^|]*)|(.*)$')
  return root .. '~once~' .. key, digest
end

-- {'repeated', id, word, detail}, {'conflict'} for another request of the key, or nothing.
local function earlierAnswer(request)
  local key, digest = onceOf(request)
  local known = redis.call('GET', key)
  if not known then return nil end
  known = cjson.decode(known)
  if known[1] ~= digest then return { 'conflict' } end
  return { 'repeated', known[2], known[3], known[4] }
end

-- A request that was refused may be made again with the same key.
local function rememberAnswer(request, answer)
  local key, digest = onceOf(request)
  local word, detail = answer, ''
  if type(answer) == 'table' then word, detail = answer[1], answer[2] end
  if ACCEPTED[word] then redis.call('SET', key, encodeJson({ digest, request.job, word, detail }), 'PX', ANSWER_KEPT_MS) end
end
