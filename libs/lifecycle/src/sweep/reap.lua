#!lua flags=allow-oom
--[[
  sweep: may this finished job, and what it left behind, be removed now?

  Marked in one step with the look whether it still has a place in its owner's index; a job that is marked gets none. A mark is
  held for a while by who removes the job, so that another does not go on with it at the same time; whoever is later than
  that has lost it. Sent twice, the answer is the same.

    KEYS[1]   record of the job's primary owner; :reap beside it, in the same slot

    ARGV[1]   now, ms; '' for the store's own clock
    ARGV[2]   look, mark, fail or done; look answers as mark would, and writes nothing
    ARGV[3]   the job; ARGV[4] who removes it
    ARGV[5]   mark: how long it is held, ms; fail: how long it rests after a first failure, ms
    ARGV[6]   after how many failures it is left alone
    ARGV[7]   look, mark: 1 when it is tried all the same
    ARGV[8]   fail: why

  Answers {'marked'}, {'placed'}, {'wait'} while another has it, {'rests', why} after a failure, {'quarantined', why};
  {'failed', how often}; {'done'}; or {'lost'} when it is another's.
]]
--- @include each
if #ARGV ~= 8 then
  return redis.error_reply('ERR wrong number of arguments')
end
local now, act, job, mine = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local ms, most, force = number(ARGV[5]), number(ARGV[6]), ARGV[7] == '1'
local record, marks = KEYS[1], KEYS[1] .. ':reap'

local hasPlace = redis.call('HEXISTS', record, 'j' .. job) == 1
local mark = redis.call('HGET', marks, job) or ''
local since, tries, next, holder, why = string.match(mark, '^(%d+)|(%d+)|(%d+)|([^|]*)|?(.*)$')
local isMarked = since ~= nil
since, tries, next, holder = since or whole(now), number(tries or '0'), number(next or '0'), holder or ''

if act == 'look' or act == 'mark' then
  if hasPlace then
    return { 'placed' }
  end
  if act == 'mark' and isMarked and holder == mine and next > now then
    return { 'marked' }
  end
  if tries >= most and not force then
    return { 'quarantined', why }
  end
  if next > now and (holder ~= '' or not force) then
    return holder ~= '' and { 'wait' } or { 'rests', why }
  end
  if act == 'mark' then
    redis.call('HSET', marks, job, since .. '|' .. whole(tries) .. '|' .. whole(now + ms) .. '|' .. mine)
  end
  return { 'marked' }
end

if act == 'done' then
  if isMarked and holder ~= mine then
    return { 'lost' }
  end
  redis.call('HDEL', marks, job)
  return { 'done' }
end

if not isMarked or holder ~= mine then
  return { 'lost' }
end
local rest = ms * 2 ^ math.min(tries, 20)
redis.call('HSET', marks, job, since .. '|' .. whole(tries + 1) .. '|' .. whole(now + rest) .. '||' .. ARGV[8])
return { 'failed', whole(tries + 1) }
