import type { Model, Step } from './explore.js';

/*
 * One owner, one epoch, one key. Three producers, each with a job of its own number and one trigger, whose payload is the
 * place of its reserve among all; two workers; a repair sweep. One producer and one worker may die. The scripts do what
 * reserve.lua, begin.lua and end.lua do with `:dedup`, `:late` and the index. A run's lease is over when BullMQ gives the
 * job of a dead worker back, so nobody is ever told to wait.
 */

export type Strategy = 'skip' | 'replace' | 'coalesce';

export type Flaw =
  | 'skip without the second add'
  | 'begin does not clear the entry'
  | 'replace without the stored payload'
  | 'coalesce without the stored payload'
  | 'begin does not refuse the replaced twin'
  | 'skip leaves the entry of its twin as old as it was';

interface Producer {
  at: 'start' | 'reserved' | 'added' | 'answered' | 'dead';
  word: 'new' | Strategy;
  /** The job it adds, and the one that it replaces. */
  job: number;
  replaced: number;
  payload: number;
}

interface Worker {
  at: 'idle' | 'picked' | 'runs' | 'finished' | 'dead';
  job: number;
  hasBegun: boolean;
}

interface Job {
  /** Its entry in the index; `touched` grows when a trigger makes it young again. */
  entry: { hasBegun: boolean; touched: number } | null;
  late: number;
  /** BullMQ: where it is, and the payload it was added with. */
  queue: 'none' | 'waiting' | 'held';
  payload: number;
}

interface State {
  /** The pending job of the key. */
  pending: number;
  jobs: Job[];
  producers: Producer[];
  workers: Worker[];
  repair: { job: number; touched: number; hasBegun: boolean } | null;
  producerDeathsLeft: number;
  workerDeathsLeft: number;

  // What only the watcher knows.
  reserves: number;
  /** The newest payload that a replace or a coalesce brought. */
  newest: number;
  /** Of each producer: something has started since its trigger was reserved. */
  isCovered: boolean[];
  broke: string;
}

const NONE = -1;
const NO_PAYLOAD = 0;
const NOTHING_TO_DO = { word: 'new', job: NONE, replaced: NONE, payload: NO_PAYLOAD } as const;
const PLACES = [0, 1, 2];
const WORKERS = [0, 1];

export function dedupModel(mix: readonly Strategy[], flaw?: Flaw): Model<State> {
  return {
    start: start(),
    steps: [
      ...PLACES.flatMap((p) => producer(p, mix[p]!, flaw)),
      ...WORKERS.flatMap((w) => worker(w, flaw)),
      ...PLACES.flatMap((job) => repair(job)),
    ],
    broken: (state) => state.broke || (couldBegin(state, flaw) > 1 ? 'I10' : undefined),
    brokenAtRest: lostTrigger,
    key,
  };
}

/** Reserve, add, remove what was replaced, answer. */
function producer(p: number, strategy: Strategy, flaw: Flaw | undefined): Step<State>[] {
  const who = `producer ${p + 1} (${strategy})`;
  return [
    {
      name: `${who} reserves`,
      when: ({ producers }) => producers[p]!.at === 'start',
      act: (state) => reserve(state, p, strategy, flaw),
    },
    {
      name: `${who} adds the job`,
      when: ({ producers }) => producers[p]!.at === 'reserved',
      act: (state) => {
        const { job, word, payload } = state.producers[p]!;
        if (word === 'replace') state.producers[p]!.at = 'added';
        else state.producers[p] = { ...NOTHING_TO_DO, at: 'answered' };
        if (word === 'skip' && flaw === 'skip without the second add') return 'not needed';
        return add(state, job, payload);
      },
    },
    {
      name: `${who} removes the replaced job`,
      when: ({ producers }) => producers[p]!.at === 'added',
      act: (state) => {
        const { replaced } = state.producers[p]!;
        state.producers[p] = { ...NOTHING_TO_DO, at: 'answered' };
        if (state.jobs[replaced]!.queue !== 'waiting') return 'it does not wait';
        leaveQueue(state, replaced);
        end(state, replaced);
        return undefined;
      },
    },
    {
      name: `${who} dies, or gives up`,
      when: ({ producers, producerDeathsLeft }) => producerDeathsLeft > 0 && isUnderWay(producers[p]!),
      act: (state) => {
        state.producers[p] = { ...NOTHING_TO_DO, at: 'dead' };
        state.producerDeathsLeft -= 1;
      },
    },
  ];
}

function reserve(state: State, p: number, strategy: Strategy, flaw: Flaw | undefined): string {
  const twin = state.pending !== NONE && state.jobs[state.pending]!.entry ? state.pending : NONE;
  const payload = (state.reserves += 1);
  if (strategy !== 'skip') state.newest = payload;
  const word = twin === NONE ? 'new' : strategy;
  switch (word) {
    case 'coalesce':
      if (flaw !== 'coalesce without the stored payload') state.jobs[twin]!.late = payload;
      touch(state, twin, flaw);
      break;
    case 'skip':
      touch(state, twin, flaw);
      break;
    case 'replace':
      if (flaw !== 'replace without the stored payload') state.jobs[p]!.late = payload;
      place(state, p);
      break;
    case 'new':
      place(state, p);
  }
  const job = word === 'new' || word === 'replace' ? p : twin;
  state.producers[p] = { at: 'reserved', word, job, replaced: twin, payload };
  return word === 'new' ? `job ${p + 1} is new` : `${word}, the twin is job ${twin + 1}`;
}

function place(state: State, job: number): void {
  state.jobs[job]!.entry = { hasBegun: false, touched: 0 };
  state.pending = job;
}

/** The twin is asked for again: for the repair sweep its entry is as young as this trigger. */
function touch(state: State, twin: number, flaw: Flaw | undefined): void {
  if (flaw !== 'skip leaves the entry of its twin as old as it was') state.jobs[twin]!.entry!.touched += 1;
}

/** BullMQ ignores a job whose id exists. */
function add(state: State, job: number, payload: number): string {
  if (state.jobs[job]!.queue !== 'none') return `job ${job + 1} is there already`;
  Object.assign(state.jobs[job]!, { queue: 'waiting', payload });
  return `job ${job + 1} waits`;
}

function leaveQueue(state: State, job: number): void {
  Object.assign(state.jobs[job]!, { queue: 'none', payload: NO_PAYLOAD });
}

/** Pick-up, begin, the handler, BullMQ's finish, end. */
function worker(w: number, flaw: Flaw | undefined): Step<State>[] {
  const who = `worker ${w + 1}`;
  return [
    ...PLACES.map((job): Step<State> => ({
      name: `${who} picks job ${job + 1} up`,
      when: ({ workers, jobs }) => workers[w]!.at === 'idle' && jobs[job]!.queue === 'waiting',
      act: (state) => {
        state.jobs[job]!.queue = 'held';
        state.workers[w] = { at: 'picked', job, hasBegun: false };
      },
    })),
    {
      name: `${who} asks to begin`,
      when: ({ workers }) => workers[w]!.at === 'picked',
      act: (state) => begin(state, w, flaw),
    },
    {
      name: `${who} finishes the job in BullMQ`,
      when: ({ workers }) => workers[w]!.at === 'runs',
      act: (state) => {
        leaveQueue(state, state.workers[w]!.job);
        state.workers[w]!.at = 'finished';
      },
    },
    {
      name: `${who} ends`,
      when: ({ workers }) => workers[w]!.at === 'finished',
      act: (state) => {
        const { job } = state.workers[w]!;
        state.workers[w] = { at: 'idle', job: 0, hasBegun: false };
        const isOvertaken = state.workers.some(
          (each) => each.hasBegun && each.job === job && each.at === 'runs',
        );
        if (isOvertaken) return 'another run has the job';
        end(state, job);
        return undefined;
      },
    },
    {
      name: `${who} dies`,
      when: ({ workers, workerDeathsLeft }) =>
        workerDeathsLeft > 0 && workers[w]!.at !== 'idle' && workers[w]!.at !== 'dead',
      act: (state) => {
        const { job } = state.workers[w]!;
        state.workers[w] = { at: 'dead', job: 0, hasBegun: false };
        state.workerDeathsLeft -= 1;
        if (state.jobs[job]!.queue !== 'held') return 'its job had ended in BullMQ';
        state.jobs[job]!.queue = 'waiting';
        return 'its lease over, the job waits again';
      },
    },
  ];
}

function begin(state: State, w: number, flaw: Flaw | undefined): string {
  const { job } = state.workers[w]!;
  const { entry, late, payload } = state.jobs[job]!;
  state.workers[w]!.at = 'runs';
  // Refused, it goes the same way to its end, but its handler is not called.
  if (!wouldBegin(state, job, flaw)) return 'superseded';

  state.workers[w]!.hasBegun = true;
  const isFirst = !entry?.hasBegun;
  const isTwin = state.pending === job;
  if (isTwin && flaw !== 'begin does not clear the entry') state.pending = NONE;
  state.jobs[job]!.entry = { hasBegun: true, touched: entry?.touched ?? 0 };
  const executed = late === NO_PAYLOAD ? payload : late;
  if (isFirst && isTwin && executed < state.newest) state.broke = 'I12';
  state.isCovered = state.producers.map((each, p) => state.isCovered[p]! || each.at !== 'start');
  return `run, with payload ${executed}`;
}

function wouldBegin({ pending, jobs }: State, job: number, flaw: Flaw | undefined): boolean {
  const { entry } = jobs[job]!;
  return pending === job || !!entry?.hasBegun || flaw === 'begin does not refuse the replaced twin';
}

function end(state: State, job: number): void {
  state.jobs[job]!.entry = null;
  state.jobs[job]!.late = NO_PAYLOAD;
  if (state.pending === job) state.pending = NONE;
}

/**
 * An entry whose job is not there, older than any producer may be late: if the job never began and its payload is known,
 * it is added; else the entry goes, unless it has changed since it was read.
 */
function repair(job: number): Step<State>[] {
  return [
    {
      name: `the repair sweep finds an old entry of job ${job + 1}, and no job`,
      when: ({ repair: sweep, jobs, producers }) =>
        !sweep &&
        !!jobs[job]!.entry &&
        jobs[job]!.queue === 'none' &&
        !producers.some((each) => isUnderWay(each) && each.job === job),
      act: (state) => {
        state.repair = { job, ...state.jobs[job]!.entry! };
      },
    },
    {
      name: 'the repair sweep mends it',
      when: ({ repair: sweep }) => sweep?.job === job,
      act: (state) => {
        const { touched, hasBegun } = state.repair!;
        const { entry, late } = state.jobs[job]!;
        state.repair = null;
        if (!entry || entry.touched !== touched || entry.hasBegun !== hasBegun)
          return 'it has changed, and stays';
        if (late !== NO_PAYLOAD && !hasBegun) return add(state, job, late);
        end(state, job);
        return 'the entry goes';
      },
    },
  ];
}

function isUnderWay({ at }: Producer): boolean {
  return at === 'reserved' || at === 'added';
}

/** How many jobs are pending: in the queue, not begun, and let in by the gate. */
function couldBegin(state: State, flaw: Flaw | undefined): number {
  return PLACES.filter(
    (job) =>
      state.jobs[job]!.queue !== 'none' && !state.jobs[job]!.entry?.hasBegun && wouldBegin(state, job, flaw),
  ).length;
}

function lostTrigger({ producers, isCovered }: State): string | undefined {
  return producers.some(({ at }, p) => at === 'answered' && !isCovered[p]) ? 'I13' : undefined;
}

/** The workers are alike; of a touch only counts whether the repair sweep has missed it. */
function key(state: State): string {
  const { pending, jobs, producers, workers, repair: sweep, reserves, newest, isCovered } = state;
  let text = `${pending},${reserves}${newest}${state.producerDeathsLeft}${state.workerDeathsLeft}${state.broke}`;
  for (const { entry, late, queue, payload } of jobs) {
    text += `${entry ? flag(entry.hasBegun) : '-'}${late}${queue[0]}${payload}`;
  }
  for (const { at, word, job, replaced, payload } of producers) {
    text += at === 'start' ? 's' : `${at.slice(0, 2)}${word[0]}${job},${replaced},${payload}`;
  }
  for (const is of isCovered) text += flag(is);
  if (sweep) {
    const entry = jobs[sweep.job]!.entry;
    const hasChanged = entry?.touched !== sweep.touched || entry.hasBegun !== sweep.hasBegun;
    text += `r${sweep.job}${flag(hasChanged)}`;
  }
  const doings = workers.map(({ at, job, hasBegun }) => `${at[0]}${at[1]}${job}${flag(hasBegun)}`).toSorted();
  return text + doings.join('');
}

function flag(is: boolean): string {
  return is ? '1' : '0';
}

function start(): State {
  return {
    pending: NONE,
    jobs: PLACES.map(() => ({ entry: null, late: NO_PAYLOAD, queue: 'none', payload: NO_PAYLOAD })),
    producers: PLACES.map(() => ({ ...NOTHING_TO_DO, at: 'start' })),
    workers: WORKERS.map(() => ({ at: 'idle', job: 0, hasBegun: false })),
    repair: null,
    producerDeathsLeft: 1,
    workerDeathsLeft: 1,
    reserves: 0,
    newest: 0,
    isCovered: PLACES.map(() => false),
    broke: '',
  };
}
