/** One Lua file of the core without one guard: `text`, which occurs once in the file, becomes `instead`. */
export interface CoreMutant {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

/**
 * A first page without jobs, which a scan may return. A canceller that is killed then has removed nothing, so a
 * dependency on the clean-up is found more often.
 */
export const NO_FIRST_PAGE = m(
  'the first page is empty',
  'cancel',
  "cleanPage(owner, cancelId, tonumber(before), '0')\n",
);

const NEVER = 'if false then';

export const CORE_MUTANTS: readonly CoreMutant[] = [
  // The gate.
  m('the gate ignores epochs', 'gate', "if not allCurrent(mark, ref) then return 'cancelled' end"),
  m(
    'the gate ignores deadlines',
    'gate',
    "if mark.startBy ~= '' and nowUs() / 1000 > tonumber(mark.startBy) then return 'expired' end",
  ),
  m('the gate ignores slots', 'gate', 'if needsSlots(mark) then', NEVER),
  m('the gate leaves the job pending', 'gate', '  leavePending(mark, ref)\n'),
  m('a refused job stays in the index', 'gate', '  forget(mark, ref, reason)\n'),
  m('a job without a slot is in no line', 'gate', 'standInLine(slot, ref)', '0'),
  m('a job without a slot counts as begun', 'gate', "redis.call('HINCRBY', run.prefix .. job, 'ats', -1)"),
  // Owners and epochs.
  m('only the first owner counts', 'record', 'if not isCurrent(owner, epoch, ref) then return false end'),
  m(
    'the first owner does not count',
    'record',
    'if not isCurrent(mark.owner, mark.epoch, ref) then return false end',
  ),
  m('a job cancelled alone is current', 'record', "redis.call('HSTRLEN', record, ref) ~= #epoch or "),
  m(
    'all epochs since a cancel count as equal',
    'record',
    'return known[1] == epoch and known[2] == epoch',
    'return true',
  ),
  m('a closed owner accepts jobs', 'record', "if known[3] == 'closed' then return nil, owner.name end"),
  m('a record expires under its jobs', 'index', "      redis.call('PERSIST', record)\n"),
  m(
    'a record stays when it is empty',
    'index',
    "if redis.call('HDEL', recordOf(owner), ref) == 1 then forgetIfEmpty(owner) end",
    "redis.call('HDEL', recordOf(owner), ref)",
  ),
  m('a removed record stays in the directory', 'index', '    note(toUnlist, epoch, owner)\n'),
  m('a new owner is not listed', 'index', "      note(toList, owner.epoch, '0', owner.name)\n"),
  m('a further owner keeps the job', 'index', '    leaveCurrent(owner, epoch, ref)\n'),
  m('the state counts as a job', 'record', ' - (others[1] and 1 or 0)'),
  // Adding.
  m('a job is not entered in the index', 'add', '  enterAll(request.owners, request.ref, request.at)\n'),
  m(
    'a pending job is not found',
    'index',
    'if mark and allCurrent(mark, pending) then return',
    'if false then return',
  ),
  m(
    'a trigger joins a cancelled job',
    'index',
    'if mark and allCurrent(mark, pending) then return',
    'if mark then return',
  ),
  m('a trigger changes the slot of the pending job', 'add-pending', 'needsOf(pending.mark)', 'request.needs'),
  m('a replaced job stays in the index', 'add-pending', '  leaveAll(pending.mark, pending.ref)\n'),
  m(
    'a replaced job keeps its slot',
    'add-pending',
    '  freeSlots(pending.mark, pending.ref)\n  bull.removeJob',
    '  bull.removeJob',
  ),
  m(
    'a replaced job stays in its queue',
    'add-pending',
    "  bull.removeJob(removeJobKeys(pending.prefix, pending.job), { pending.job, '0', pending.prefix })\n",
  ),
  m(
    'a limit is exceeded by one',
    'add',
    'if jobsOf(owner) >= ownerLimit then',
    'if jobsOf(owner) > ownerLimit then',
  ),
  // Finishing.
  m('a result of a cancelled run counts', 'finish', 'if mark and not allCurrent(mark, ref) then', NEVER),
  m('an ended job stays in the index', 'finish', 'if mark then leaveAllCurrent(mark, ref) end'),
  m('an ended job keeps its slot', 'finish', '    freeSlots(mark, ref)\n'),
  m(
    'a job fetched by a finish skips the gate',
    'finish',
    'withRefused(run, throughGate(run, answer))',
    'answer',
  ),
  m('a finish counts without its lock', 'finish', 'if isError(answer) then return answer end'),
  // Slots.
  m(
    'a slot has one place too many',
    'take-slots',
    "redis.call('ZCARD', holders) >= slot.limit then return false end",
    "redis.call('ZCARD', holders) > slot.limit then return false end",
  ),
  m('a freed slot wakes no job', 'slots', '    if held or stood and slot.rate then wakeNext(slot) end\n'),
  m(
    'the next in line is not woken',
    'slots',
    "bull.promote(keysOf('promote', prefix), { prefix, job }) == 0",
    'true',
  ),
  m(
    'a woken job holds no slot',
    'slots',
    "    redis.call('ZADD', holdersOf(slot), nowUs(), ref)\n    goInFront",
    '    goInFront',
  ),
  m(
    'a removed job stays in line',
    'slots',
    "stood = redis.call('ZREM', lineOf(slot), ref) == 1\n    local held",
    'stood = false\n    local held',
  ),
  m('a key lets two jobs run', 'slot-limits', ', limit = 1 } end', ', limit = 2 } end'),
  m('a job without a token is not woken', 'gate', '  if slot.rate then rates.wakeAhead(slot, ref) end\n'),
  m(
    'the token of a line is not waited for',
    'rates',
    "    redis.call('ZADD', rates.due(), whole(due), slot.key)\n",
  ),
  // Cancels.
  m(
    'a cancel leaves the epoch',
    'cancel',
    "redis.call('HSET', record, 'epoch', epoch, 'wanted', wantedOf(",
    "redis.call('HSET', record, 'epoch', before, 'wanted', wantedOf(",
  ),
  m('a cancel closes nothing', 'cancel', "if closes then redis.call('HSET', record, 'state', 'closed') end"),
  m(
    'a clean-up removes jobs of the present epoch',
    'clean-up',
    'if isJob and tonumber(page[2][i + 1]) <= upTo then',
    'if isJob then',
  ),
  m('a clean-up removes runs', 'clean-up', 'if begunAt and isLocked(prefix, job) then', NEVER),
  m(
    'a clean-up leaves the queue alone',
    'clean-up',
    'then wasDelayed = removeOnPage(page, prefix, job) end',
    'then wasDelayed = false end',
  ),
  m(
    'a clean-up keeps the keys of a job',
    'clean-up',
    "  if #page.keys > 0 then redis.call('DEL', unpack(page.keys)) end\n",
  ),
  m(
    'a clean-up looks for a plain job only in the set of the previous job',
    'clean-up',
    'if not leaveSameSet(prefix, job) then return nil end',
    'if not leaveSameSet(prefix, job) then return false end',
  ),
  m(
    'a clean-up looks for a job only in the set of the previous job',
    'environment',
    'if not leaveSameSet(prefix, job) then removedFrom = helper(prefix, job) end',
    'if not leaveSameSet(prefix, job) and removedFrom == nil then removedFrom = helper(prefix, job) end',
  ),
  m('a clean-up leaves the index alone', 'clean-up', '  leaveAllOn(page, mark, ref)\n'),
  m('a run is told twice', 'clean-up', "if redis.call('SADD', toldOf(ref), cancelId) == 0 then return end"),
  m('a job cancelled alone stays current', 'cancel-job', "  redis.call('HSET', recordOf(owner), ref, '0')\n"),
  m('a closed receipt stays open', 'index', "  redis.call('ZREM', root .. '~cancels', cancelId)\n"),
  m(
    'a finished cancel stays in the record',
    'index',
    "  if redis.call('HGET', recordOf(owner), 'cancel') == cancelId then redis.call('HDEL', recordOf(owner), 'cancel') end\n",
  ),
  m('a reopened owner without jobs stays for ever', 'reopen', 'forgetIfEmpty(owner)'),
  // Other ends.
  m('a cancelled run keeps its slot', 'ends', '  freeSlots(mark, ref)\n'),
  m('a cancelled run stays in the index', 'ends', '  leaveAll(mark, ref)\n'),
  m(
    'a run requeues a cancelled job',
    'requeue',
    'if mark and not allCurrent(mark, ref) then return endCancelled(prefix, job, timestamp, token, mark, ref) end',
  ),
  m('a requeued job keeps its slot', 'requeue', 'if mark then freeSlots(mark, ref) end'),
  m(
    'a job fetched by a requeue skips the gate',
    'requeue',
    'withRefused(run, throughGate(run, answer))',
    'answer',
  ),
  m(
    'a job that BullMQ removes stays in the index',
    'removals',
    'if mark then forgetJob(mark, string.sub(job.key, #root + 2), job.known, reason) end',
  ),
  m(
    'a retried job is in no index',
    'waits-again',
    "moor(prefix, job, owners, at, '', needsOf(mark))",
    "setMark(prefix, job, writeMark(owners, '', needsOf(mark)))",
  ),
  m(
    'a retried job keeps its old epochs',
    'waits-again',
    "moor(prefix, job, owners, at, '', needsOf(mark))",
    'enterAll(owners, ref, at)',
  ),
  m('a closed owner accepts retries', 'waits-again', "if closed then return { 'closed', closed } end"),
  m('a run that was not told counts as ended', 'receipts', "  count(mark, ref, 'aborted')\n"),
];

function m(name: string, file: string, text: string, instead = ''): CoreMutant {
  return { name, file, text, instead };
}
