-- What add.lua is asked for: the jobs, and the templates that say what they have in common.

local TEMPLATE_WIDTH = 11

local function readTemplate(at)
  local sort, prefix, options = ARGV[at], ARGV[at + 1], ARGV[at + 3]
  return {
    sort = sort, prefix = prefix, queue = refOf(prefix, ''), keys = keysOf(sort, prefix), name = ARGV[at + 2],
    options = cjson.decode(options), furtherOptions = options == '{}' and '}' or ',' .. string.sub(options, 2),
    life = ARGV[at + 4], strategy = ARGV[at + 5], longestWait = ARGV[at + 6],
    isCallersId = ARGV[at + 7] == '1', hasNeeds = ARGV[at + 8] == '1', hasRest = ARGV[at + 9] == '1', hasKey = ARGV[at + 10] == '1',
  }
end

-- Answers the request, and where the next one begins.
local function readRequest(at, templates)
  local template = templates[tonumber(ARGV[at])]
  local prefix, job, needs, rest, once, askedAt, following = template.prefix, ARGV[at + 1], '||', '', nil, nil, at + 5
  if template.hasNeeds then needs, following = ARGV[following], following + 1 end
  if template.hasRest then rest, following = ARGV[following], following + 1 end
  if template.hasKey then
    once, askedAt = string.match(ARGV[following], '^(.*)|([^|]*)$')
    if once == '|' then once = nil end
    following = following + 1
  end
  return {
    template = template, prefix = prefix, job = job, ref = template.queue .. job, timestamp = ARGV[at + 2], data = ARGV[at + 3],
    owners = ownersNamed(ARGV[at + 4]), needs = needs, rest = rest, once = once, askedAt = tonumber(askedAt or ''),
  }, following
end

local function readRequests(at)
  local templates, requests, request = {}, {}, nil
  for i = 1, tonumber(ARGV[at]) do templates[i] = readTemplate(at + 1 + (i - 1) * TEMPLATE_WIDTH) end
  at = at + 1 + #templates * TEMPLATE_WIDTH
  while at <= #ARGV do
    request, at = readRequest(at, templates)
    requests[#requests + 1] = request
  end
  return requests
end

local NO_REST = {}

-- BullMQ takes nothing for what JSON calls null.
local function restOf(request)
  if request.rest == '' then return NO_REST end
  local rest = cjson.decode(request.rest)
  for i = 1, 6 do
    if rest[i] == cjson.null then rest[i] = nil end
  end
  return rest
end

local function startBy(request)
  if request.template.life == '' then return '' end
  return whole(math.floor(request.askedAt or request.at / 1000) + tonumber(request.template.life))
end

local function markOf(request)
  return writeMark(request.owners, startBy(request), request.needs)
end
