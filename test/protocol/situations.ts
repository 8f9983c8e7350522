import { KEEP_MS, LEASE_MS, OwnerCalls, type Strategy } from './owner.calls.js';
import type { Args, ScriptName, ScriptRunner } from './script-runner.js';

const NOW = 1_900_000_000_000;
const EPOCH = `${NOW}000`;

/** A call of a script that has much to write, and what is there before it. */
export interface Situation {
  readonly name: string;
  readonly script: ScriptName;
  readonly args: Args;
  readonly prepare: (run: ScriptRunner, key: string) => Promise<unknown>;
}

const nothing = (): Promise<void> => Promise.resolve();

const reserved =
  (...strategies: Strategy[]) =>
  async (run: ScriptRunner, key: string): Promise<OwnerCalls> => {
    const owner = new OwnerCalls(run, key);
    for (const [i, strategy] of strategies.entries()) {
      await owner.reserve(NOW, { job: `job-${i}`, strategy, key: strategy && 'k', payload: 'old' });
    }
    return owner;
  };

const begun =
  (...strategies: Strategy[]) =>
  async (run: ScriptRunner, key: string): Promise<OwnerCalls> => {
    const owner = await reserved(...strategies)(run, key);
    const job = `job-${strategies.length - 1}`;
    await owner.begin(NOW, { job, token: 't0', epoch: EPOCH, life: '', key: strategies[0] ? 'k' : '' });
    await owner.commit({ job, token: 't0', epoch: EPOCH, fence: '1', result: 'old' });
    return owner;
  };

const cancelled = async (run: ScriptRunner, key: string): Promise<void> => {
  const owner = await begun('coalesce', 'replace')(run, key);
  await owner.cancel(NOW, { cancelId: 'c0' });
};

const meant = (run: ScriptRunner, key: string): Promise<unknown> =>
  run('intent', [key], [NOW, 'intend', 'c0', 5, '{}', KEEP_MS, 9]);

const closed = async (run: ScriptRunner, key: string): Promise<void> => {
  await (await reserved('')(run, key)).cancel(NOW, { cancelId: 'c0', close: true });
};

const drop = (...jobs: string[]): Args => [
  NOW + LEASE_MS,
  KEEP_MS,
  KEEP_MS,
  'c0',
  EPOCH,
  9,
  KEEP_MS,
  ...jobs.flatMap((job) => [job, 'q|waiting', 'k', '{}']),
];

const take = (act: string, job: string, now = NOW): Args => [now, act, job, 't0', 1, LEASE_MS, 0];

const queued = async (run: ScriptRunner, key: string): Promise<void> => {
  for (const job of ['job-1', 'job-2']) await run('take', [key], take('take', job));
};

const reserve = (job: string, strategy: Strategy, expected = ''): Args => {
  return [NOW, 'trip:42', job, 9, strategy, 'k', 'new', expected];
};
const begin = (job: string, now = NOW): Args => [now, job, 't1', EPOCH, 50, LEASE_MS, 'k', 1];

const moored = async (run: ScriptRunner, key: string): Promise<void> => {
  await run('moor', [key], [NOW, 'trip:42', 's1', 7, 9]);
};

const OWNERS = '["trip:42","site:1"]';

const begunPlan = (run: ScriptRunner, key: string): Promise<unknown> =>
  run('plan', [key], [NOW, 's1', 'begin', OWNERS]);
const finish = (owners = OWNERS): Args => {
  return [NOW, 's1', 'finish', EPOCH, 'nightly', '{}', owners, '["1","2"]', '{}', NOW + 50];
};
const planned = async (run: ScriptRunner, key: string): Promise<void> => {
  await begunPlan(run, key);
  await run('plan', [key], finish());
};

const reap = (act: string, who: string): Args => [NOW, act, 'job', who, LEASE_MS, 5, 0, ''];
const marked = (run: ScriptRunner, key: string): Promise<unknown> => run('reap', [key], reap('mark', 't0'));
const expire = (job: string, now = NOW + 51): Args => [now, job, EPOCH, 50, 'k'];
const lost = async (run: ScriptRunner, key: string): Promise<void> => {
  const owner = await reserved('')(run, key);
  await owner.begin(NOW, { job: 'job-0', token: 't0', epoch: EPOCH, life: '', key: '' });
};
const mend: Args = [NOW + LEASE_MS, KEEP_MS, KEEP_MS, 'place', 'job-0', `${EPOCH}|${NOW}|0|`];
const dangling = async (run: ScriptRunner, key: string): Promise<void> => {
  await reserved('coalesce', 'coalesce')(run, key);
};
const listed = async (run: ScriptRunner, key: string): Promise<void> => {
  await run('due', [key], ['job-1', '', NOW]);
};

export const SITUATIONS: readonly Situation[] = [
  { name: 'a first job', script: 'reserve', args: reserve('job', 'skip'), prepare: nothing },
  { name: 'another job', script: 'reserve', args: reserve('job', ''), prepare: reserved('') },
  { name: 'a skip', script: 'reserve', args: reserve('job', 'skip'), prepare: reserved('skip') },
  { name: 'a coalesce', script: 'reserve', args: reserve('job', 'coalesce'), prepare: reserved('skip') },
  {
    name: 'a skip, as expected',
    script: 'reserve',
    args: reserve('job', 'skip', EPOCH),
    prepare: reserved('skip'),
  },
  { name: 'a replace', script: 'reserve', args: reserve('job', 'replace'), prepare: reserved('skip') },
  { name: 'an id once more', script: 'reserve', args: reserve('job-1', 'replace'), prepare: cancelled },
  { name: 'a first run', script: 'begin', args: begin('job-1'), prepare: reserved('skip', 'replace') },
  { name: 'a run too late', script: 'begin', args: begin('job-0', NOW + 51), prepare: reserved('skip') },
  {
    name: 'a run after a lost one',
    script: 'begin',
    args: begin('job-0', NOW + LEASE_MS).map((arg, i) => (i === 4 ? '' : i === 7 ? 0 : arg)),
    prepare: begun('skip'),
  },
  { name: 'a run', script: 'renew', args: [NOW, 'job-0', 't0', EPOCH, LEASE_MS], prepare: begun('') },
  { name: 'a result', script: 'commit', args: ['job-0', 't0', EPOCH, '1', 'new'], prepare: begun('') },
  {
    name: 'a last run',
    script: 'end',
    args: [NOW, KEEP_MS, KEEP_MS, 'job-1', 't0', 1, 'k', EPOCH],
    prepare: begun('skip', 'replace'),
  },
  {
    name: 'a job that never ran',
    script: 'end',
    args: [NOW, KEEP_MS, KEEP_MS, 'job-0', '', 1, 'k', EPOCH],
    prepare: reserved('skip'),
  },
  {
    name: 'an owner',
    script: 'cancel',
    args: [NOW, 'c1', 1, 'trip:42', EPOCH, '1', KEEP_MS, KEEP_MS, NOW, '', '{}'],
    prepare: begun(''),
  },
  {
    name: 'one job',
    script: 'cancel',
    args: [NOW, 'c1', 0, 'trip:42', '', '', KEEP_MS, KEEP_MS, '', 'job-1', '{}'],
    prepare: begun('skip', 'replace'),
  },
  {
    name: 'a job and those below it',
    script: 'cancel',
    args: [NOW, 'c1', 0, 'trip:42', '', '', KEEP_MS, KEEP_MS, '', 'job-0 job-1', '{}'],
    prepare: begun('skip', 'replace'),
  },
  {
    name: 'an owner once more',
    script: 'cancel',
    args: [NOW, 'c0', 1, 'trip:42', '', '', KEEP_MS, KEEP_MS, '', '', '{}'],
    prepare: cancelled,
  },
  { name: 'an owner again', script: 'reopen', args: [NOW, 'trip:42', KEEP_MS, 0], prepare: closed },
  { name: 'an owner nobody knows', script: 'reopen', args: [NOW, 'trip:42', KEEP_MS, 0], prepare: nothing },
  { name: 'cancelled jobs', script: 'drop', args: drop('job-1'), prepare: cancelled },
  {
    name: 'a schedule of a cancelled owner',
    script: 'along',
    args: ['c0', 's1', '{}', 9, KEEP_MS],
    prepare: cancelled,
  },
  {
    name: 'an answer to a cancel',
    script: 'answered',
    args: ['job-1', 't0', 'ignored'],
    prepare: cancelled,
  },
  { name: 'a cancel that is done', script: 'finish', args: [NOW, 'c0'], prepare: cancelled },
  {
    name: 'a cancel to be',
    script: 'intent',
    args: [NOW, 'intend', 'c0', 5, '{}', KEEP_MS, 9],
    prepare: nothing,
  },
  {
    name: 'a cancel that is not to be',
    script: 'forget',
    args: ['c0', KEEP_MS, 0],
    prepare: meant,
  },
  {
    name: 'why jobs are gone',
    script: 'remember',
    args: [NOW, 2, KEEP_MS, 1_000, 'job-1', '{}'],
    prepare: nothing,
  },
  { name: 'a free slot', script: 'take', args: take('take', 'job'), prepare: nothing },
  { name: 'a slot that is held', script: 'take', args: take('take', 'job'), prepare: queued },
  { name: 'a slot of the dead', script: 'take', args: take('take', 'job', NOW + LEASE_MS), prepare: queued },
  { name: 'a slot for longer', script: 'take', args: take('hold', 'job-1'), prepare: queued },
  { name: 'a slot back', script: 'take', args: take('give', 'job-1'), prepare: queued },
  { name: 'a place in line', script: 'take', args: take('look', 'job-2'), prepare: queued },
  { name: 'a place before it is added', script: 'take', args: take('stand', 'job-3'), prepare: queued },
  { name: 'out of the line', script: 'take', args: take('quit', 'job-2'), prepare: queued },
  { name: 'a schedule', script: 'moor', args: [NOW, 'trip:42', 's1', 7, 9], prepare: nothing },
  { name: 'a schedule once more', script: 'moor', args: [NOW, 'trip:42', 's1', 8, 9], prepare: moored },
  { name: 'a schedule', script: 'unmoor', args: [NOW, KEEP_MS, KEEP_MS, 's1', 7], prepare: moored },
  { name: 'a change', script: 'plan', args: [NOW, 's1', 'begin', OWNERS], prepare: planned },
  { name: 'a schedule', script: 'plan', args: finish(), prepare: begunPlan },
  { name: 'a schedule', script: 'strike', args: [NOW, 's1', '["1","2"]'], prepare: planned },
  { name: 'of a change', script: 'undone', args: [NOW, 's1', 'look', EPOCH], prepare: begunPlan },
  { name: 'for long', script: 'undone', args: [NOW + 30_000, 's1', 'look', ''], prepare: begunPlan },
  {
    name: 'and done now',
    script: 'undone',
    args: [NOW, 's1', 'done', JSON.stringify(['trip:42', EPOCH, 'site:1', EPOCH])],
    prepare: begunPlan,
  },
  { name: 'what is due', script: 'claim', args: [NOW + 50, 9, 9], prepare: planned },
  {
    name: 'a schedule',
    script: 'turn',
    args: [NOW + 50, 's1', '["1","2"]', NOW + 50, NOW + 99, 'job-1', ''],
    prepare: planned,
  },
  { name: 'a job that goes', script: 'reap', args: reap('mark', 't0'), prepare: nothing },
  { name: 'a job that failed to go', script: 'reap', args: reap('fail', 't0'), prepare: marked },
  { name: 'a job that is gone', script: 'reap', args: reap('done', 't0'), prepare: marked },
  { name: 'a job that is too late', script: 'expire', args: expire('job-0'), prepare: reserved('skip') },
  { name: 'a run that is over', script: 'expire', args: expire('job-0', NOW + LEASE_MS), prepare: lost },
  { name: 'strays', script: 'mend', args: mend, prepare: dangling },
  { name: 'a deadline that is over', script: 'due', args: ['job-1', NOW, ''], prepare: listed },
  { name: 'a deadline put off', script: 'due', args: ['job-1', NOW, NOW + 50], prepare: listed },
  { name: 'a rise', script: 'depth', args: [2, 5], prepare: (run, key) => run('depth', [key], [1, '']) },
  { name: 'a fall', script: 'depth', args: [-2, ''], prepare: (run, key) => run('depth', [key], [3, '']) },
];
