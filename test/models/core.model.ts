import type { Model, Step } from './explore.js';

/*
  The core: every script is one step, so faults are possible only between two steps. The model has one owner, and jobs
  that share a slot with the limit 1; the first two are triggers of one deduplication key. A producer may repeat an add,
  because the answer may be lost. Two workers may be killed, or be so slow that their lock expires and they return. Any
  process may continue the clean-up of a cancel, one job at a time. A failed job may be retried.
*/

export type CoreFlaw =
  | 'the index is written after the queue'
  | 'fetch ignores the epoch'
  | 'finish ignores the epoch'
  | 'finish ignores the lock'
  | 'a slot is freed after the finish'
  | 'a freed slot wakes no job'
  | 'a clean-up removes jobs of the present epoch'
  | 'a clean-up removes runs'
  | 'a retried job keeps its epoch'
  | 'a begun job stays pending'
  | 'a cancelled job stays pending'
  | 'a cancel leaves the epoch'
  | 'an id does not identify a job';

const JOBS = [0, 1, 2];
const WORKERS = [0, 1];
const TRIGGERS: readonly number[] = [0, 1];
const NONE = -1;

const PLACES = ['not added', 'waits', 'in line', 'active', 'completed', 'failed', 'gone'] as const;

interface Job {
  at: (typeof PLACES)[number];
  /** The epoch in its mark. */
  epoch: number;
  /** The epoch in the index of its owner, or NONE. */
  entry: number;
  /** The run that holds its lock, or 0. */
  lock: number;
  /** What its callers know: the job must not start any more. */
  isCancelled: boolean;
  hasResult: boolean;
}

interface Run {
  job: number;
  run: number;
  /** Its lock has expired: its writes no longer count. */
  isLost: boolean;
  owesSlot: boolean;
}

interface State {
  epoch: number;
  jobs: Job[];
  pending: number;
  holder: number;
  line: number[];
  /** The run of each worker. */
  runs: Run[];
  lastRun: number;
  /** The unfinished clean-up removes jobs up to this epoch. */
  cleansUpTo: number;
  /** A trigger was accepted, and no run of its key has begun since. */
  isOwed: boolean;
  toIndex: number;
  left: { cancels: number; repeats: number; failures: number; mishaps: number };
  broke: string;
}

export function coreModel(flaw?: CoreFlaw): Model<State> {
  return {
    start: {
      epoch: 1,
      jobs: JOBS.map(() => ({
        at: 'not added',
        epoch: 0,
        entry: NONE,
        lock: 0,
        isCancelled: false,
        hasResult: false,
      })),
      pending: NONE,
      holder: NONE,
      line: [],
      runs: WORKERS.map(noRun),
      lastRun: 0,
      cleansUpTo: 0,
      isOwed: false,
      toIndex: NONE,
      left: { cancels: 1, repeats: 1, failures: 1, mishaps: 1 },
      broke: '',
    },
    steps: [
      ...JOBS.flatMap((job) => [...producer(job, flaw), ...canceller(job, flaw), ...store(job, flaw)]),
      ...WORKERS.flatMap((worker) => workerSteps(worker, flaw)),
      cancel(flaw),
    ],
    broken: (state) => state.broke || wrongIndex(state) || wrongSlot(state) || wrongPending(state),
    alwaysPossible: {
      invariant: 'everything ends, and every trigger is followed by a run',
      good: ({ jobs, isOwed, runs }) =>
        jobs.every(isOver) && !isOwed && runs.every(({ job }) => job === NONE),
    },
    key,
  };
}

function noRun(): Run {
  return { job: NONE, run: 0, isLost: false, owesSlot: false };
}

function producer(job: number, flaw: CoreFlaw | undefined): Step<State>[] {
  const isTrigger = TRIGGERS.includes(job);
  return [
    {
      name: `job ${job} is added`,
      when: ({ jobs }) => jobs[job]!.at === 'not added',
      act: (state) => {
        if (isTrigger) state.isOwed = true;
        if (isTrigger && state.pending !== NONE) {
          state.jobs[job]!.at = 'gone';
          return 'skipped';
        }
        put(state, job, flaw);
        return 'created';
      },
    },
    {
      name: `the add of job ${job} is sent again`,
      when: ({ jobs, left }) => left.repeats > 0 && !['not added', 'gone'].includes(jobs[job]!.at),
      act: (state) => {
        state.left.repeats -= 1;
        if (flaw === 'an id does not identify a job') put(state, job, flaw);
      },
    },
    {
      name: `job ${job} is written in the index`,
      when: ({ toIndex }) => toIndex === job,
      act: (state) => {
        state.toIndex = NONE;
        state.jobs[job]!.entry = state.jobs[job]!.epoch;
      },
    },
  ];
}

function put(state: State, job: number, flaw: CoreFlaw | undefined): void {
  const { epoch } = state;
  const isLate = flaw === 'the index is written after the queue';
  const { hasResult } = state.jobs[job]!;
  state.jobs[job] = {
    at: 'waits',
    epoch,
    entry: isLate ? NONE : epoch,
    lock: 0,
    isCancelled: false,
    hasResult,
  };
  if (isLate) state.toIndex = job;
  if (TRIGGERS.includes(job)) state.pending = job;
}

function cancel(flaw: CoreFlaw | undefined): Step<State> {
  return {
    name: 'the owner is cancelled',
    when: ({ left, jobs }) => left.cancels > 0 && jobs.some(({ entry }) => entry !== NONE),
    act: (state) => {
      state.left.cancels -= 1;
      state.cleansUpTo = state.epoch;
      if (flaw !== 'a cancel leaves the epoch') state.epoch += 1;
      if (flaw !== 'a cancelled job stays pending') state.pending = NONE;
      state.isOwed = false;
      for (const job of state.jobs) if (isUnfinished(job)) job.isCancelled = true;
    },
  };
}

function canceller(job: number, flaw: CoreFlaw | undefined): Step<State>[] {
  const takes = ({ jobs, cleansUpTo }: State): boolean => {
    const { entry, lock } = jobs[job]!;
    const isOld = entry <= cleansUpTo || flaw === 'a clean-up removes jobs of the present epoch';
    return cleansUpTo > 0 && entry !== NONE && isOld && (lock === 0 || flaw === 'a clean-up removes runs');
  };
  return [
    { name: `the clean-up takes job ${job}`, when: takes, act: (state) => end(state, job, 'gone', flaw) },
  ];
}

/** What happens with time: a lock expires, and a job without a lock counts as stalled. */
function store(job: number, flaw: CoreFlaw | undefined): Step<State>[] {
  return [
    {
      name: `the lock of job ${job} runs out`,
      when: ({ jobs, left }) => jobs[job]!.lock !== 0 && left.mishaps > 0,
      act: (state) => {
        state.left.mishaps -= 1;
        const holder = state.runs.find(({ run }) => run === state.jobs[job]!.lock);
        if (holder) holder.isLost = true;
        state.jobs[job]!.lock = 0;
      },
    },
    {
      name: `job ${job} is found stalled`,
      when: ({ jobs }) => jobs[job]!.at === 'active' && jobs[job]!.lock === 0,
      act: (state) => {
        state.jobs[job]!.at = 'waits';
      },
    },
    {
      name: `job ${job} is retried`,
      when: ({ jobs }) => jobs[job]!.at === 'failed',
      act: (state) => {
        const epoch = flaw === 'a retried job keeps its epoch' ? state.jobs[job]!.epoch : state.epoch;
        state.jobs[job] = { at: 'waits', epoch, entry: epoch, lock: 0, isCancelled: false, hasResult: false };
      },
    },
  ];
}

function workerSteps(worker: number, flaw: CoreFlaw | undefined): Step<State>[] {
  const isFree = ({ runs }: State): boolean => runs[worker]!.job === NONE && !runs[worker]!.owesSlot;
  const hasRun = ({ runs }: State): boolean => runs[worker]!.job !== NONE;
  return [
    ...JOBS.map((job) => ({
      name: `worker ${worker} fetches job ${job}`,
      when: (state: State) => isFree(state) && state.jobs[job]!.at === 'waits',
      act: (state: State) => fetch(state, worker, job, flaw),
    })),
    {
      name: `the run of worker ${worker} completes`,
      when: hasRun,
      act: (state) => finish(state, worker, 'completed', flaw),
    },
    {
      name: `the run of worker ${worker} fails`,
      when: (state) => hasRun(state) && state.left.failures > 0,
      act: (state) => {
        state.left.failures -= 1;
        return finish(state, worker, 'failed', flaw);
      },
    },
    {
      name: `worker ${worker} frees its slot`,
      when: ({ runs }) => runs[worker]!.owesSlot,
      act: (state) => {
        state.runs[worker] = noRun();
        free(state, state.holder, flaw);
      },
    },
    {
      name: `worker ${worker} dies`,
      when: ({ runs, left, jobs }) =>
        left.mishaps > 0 && (runs[worker]!.owesSlot || jobs.some(({ lock }) => lock === runs[worker]!.run)),
      act: (state) => {
        const { run } = state.runs[worker]!;
        state.left.mishaps -= 1;
        state.runs[worker] = noRun();
        for (const job of state.jobs) if (run !== 0 && job.lock === run) job.lock = 0;
      },
    },
  ];
}

function fetch(state: State, worker: number, job: number, flaw: CoreFlaw | undefined): string {
  if (!isCurrent(state, job) && flaw !== 'fetch ignores the epoch') {
    end(state, job, 'gone', flaw);
    return 'refused';
  }
  if (state.holder !== NONE && state.holder !== job) {
    state.jobs[job]!.at = 'in line';
    state.line.push(job);
    return 'stands in line';
  }
  if (state.jobs[job]!.isCancelled) state.broke = 'late start';
  state.holder = job;
  state.line = state.line.filter((other) => other !== job);
  state.lastRun += 1;
  Object.assign(state.jobs[job]!, { at: 'active', lock: state.lastRun });
  state.runs[worker] = { ...noRun(), job, run: state.lastRun };
  if (TRIGGERS.includes(job)) state.isOwed = false;
  if (state.pending === job && flaw !== 'a begun job stays pending') state.pending = NONE;
  return `run ${state.lastRun}`;
}

function finish(
  state: State,
  worker: number,
  to: 'completed' | 'failed',
  flaw: CoreFlaw | undefined,
): string {
  const { job, run } = state.runs[worker]!;
  state.runs[worker] = noRun();
  const holdsLock = state.jobs[job]!.lock === run;
  if (!holdsLock && flaw !== 'finish ignores the lock') return 'has lost its lock';
  if (!isCurrent(state, job) && flaw !== 'finish ignores the epoch') {
    end(state, job, 'gone', flaw);
    return 'was cancelled';
  }
  if (state.jobs[job]!.isCancelled) state.broke = 'late result';
  if (state.jobs[job]!.hasResult) state.broke = 'a second result';
  state.jobs[job]!.hasResult = true;
  if (flaw === 'a slot is freed after the finish') {
    state.runs[worker].owesSlot = true;
    leave(state, job, to);
    return to;
  }
  end(state, job, to, flaw);
  return to;
}

function isCurrent({ epoch, jobs }: State, job: number): boolean {
  return jobs[job]!.epoch === epoch && jobs[job]!.entry === epoch;
}

/** A job ends: it leaves the index, its key and its slot in one step. */
function end(state: State, job: number, to: Job['at'], flaw: CoreFlaw | undefined): void {
  if (to === 'gone' && !state.jobs[job]!.isCancelled) state.broke = 'lost';
  leave(state, job, to);
  free(state, job, flaw);
}

function leave(state: State, job: number, to: Job['at']): void {
  Object.assign(state.jobs[job]!, { at: to, entry: NONE, lock: 0 });
  if (state.pending === job) state.pending = NONE;
}

/** The slot that a job held goes to the next in line, which waits again. */
function free(state: State, job: number, flaw: CoreFlaw | undefined): void {
  state.line = state.line.filter((other) => other !== job);
  if (state.holder !== job) return;
  state.holder = NONE;
  if (flaw === 'a freed slot wakes no job') return;
  const next = state.line.shift();
  if (next === undefined) return;
  state.holder = next;
  state.jobs[next]!.at = 'waits';
}

function isUnfinished({ at }: Job): boolean {
  return at === 'waits' || at === 'in line' || at === 'active';
}

function isOver({ at }: Job): boolean {
  return at === 'completed' || at === 'failed' || at === 'gone';
}

function wrongIndex({ jobs }: State): string {
  return jobs.some((job) => isUnfinished(job) !== (job.entry !== NONE)) ? 'index' : '';
}

/** A run that was told to stop may continue: it keeps its slot until it ends. */
function wrongSlot({ runs, holder, line }: State): string {
  const running = runs.filter(({ job, isLost }) => job !== NONE && !isLost);
  if (running.length > 1) return 'slot';
  if (running.some(({ job }) => job !== holder)) return 'slot';
  return holder === NONE && line.length > 0 ? 'line' : '';
}

function wrongPending({ jobs, pending }: State): string {
  if (pending === NONE) return '';
  return jobs[pending]!.at === 'waits' || jobs[pending]!.at === 'in line' ? '' : 'pending';
}

/** Of the runs, only the owner of each lock matters. */
function key(state: State): string {
  const { jobs, runs, lastRun: _, ...rest } = state;
  const each = jobs.map(({ at, epoch, entry, lock, isCancelled, hasResult }) => {
    const holder = lock === 0 ? NONE : runs.findIndex(({ run }) => run === lock);
    return `${PLACES.indexOf(at)}${epoch}${entry}${lock === 0 ? '-' : holder}${isCancelled ? 'c' : ''}${hasResult ? 'r' : ''}`;
  });
  const workers = runs.map(({ job, owesSlot, isLost }) => `${job}${owesSlot ? 'o' : ''}${isLost ? 'l' : ''}`);
  return `${each.join()};${workers.join()};${JSON.stringify(rest)}`;
}
