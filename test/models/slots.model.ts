import type { Model, Step } from './explore.js';

/*
 * One concurrency key. Three jobs, each brought by a queue to a worker as often as it waits. Who gets no slot is put off,
 * and comes back when it is woken or, late, by itself: the safety net. One job may fail and be tried again at once. And one
 * mishap: a wake-up is lost, or a worker dies, as a holder, between give and wake, or on the way to a slot it was granted;
 * its job may be cancelled then and never come back.
 *
 * A hold is written as `<job>|<run>`, and a grant, which waits for a run to come, as `<job>|`.
 */

export type Flaw =
  | 'no grant: a slot is free for whoever comes'
  | 'no look after the job was put off'
  | 'a grant has no lease'
  | 'a hold is keyed by job id';

const STAGES = [
  'waits',
  'picked',
  'refused',
  'put off, about to look',
  'put off',
  'runs',
  'its worker died',
  'ended',
  'cancelled',
] as const;

interface Job {
  at: (typeof STAGES)[number];
  /** The run that it is in, or was in last. */
  run: number;
}

interface Hold {
  job: number;
  /** 0 for a grant. */
  run: number;
}

interface State {
  holders: Hold[];
  line: number[];
  jobs: Job[];
  /** What workers still have to do in the background: a run's slot to give back, a job to wake (twice is once). */
  toGive: Hold[];
  toWake: boolean[];
  lastRun: number;
  failuresLeft: number;
  mishapsLeft: number;
  broke: string;
}

const JOBS = [0, 1, 2];
const GRANT = 0;

export function slotsModel(limit: number, flaw?: Flaw): Model<State> {
  return {
    start: {
      holders: [],
      line: [],
      jobs: JOBS.map(() => ({ at: 'waits', run: 0 })),
      toGive: [],
      toWake: JOBS.map(() => false),
      lastRun: 0,
      failuresLeft: 1,
      mishapsLeft: 1,
      broke: '',
    },
    steps: JOBS.flatMap((job) => [
      ...life(job, limit, flaw),
      ...background(job, limit, flaw),
      ...mishaps(job),
      ...leases(job, flaw),
    ]),
    broken: (state) => state.broke || tooManyRun(state, limit) || forgotten(state),
    alwaysPossible: { invariant: 'every job ends', good: ({ jobs }) => jobs.every(isOver) },
    key,
  };
}

/** Pick-up, take, and either the run and its end, or a wait. */
function life(job: number, limit: number, flaw: Flaw | undefined): Step<State>[] {
  const who = `job ${job + 1}`;
  const isAt = (at: Job['at']) => (state: State) => state.jobs[job]!.at === at;
  return [
    {
      name: `${who} is picked up`,
      when: isAt('waits'),
      act: (state) => {
        state.lastRun += 1;
        state.jobs[job] = { at: 'picked', run: state.lastRun };
        return `run ${state.lastRun}`;
      },
    },
    {
      name: `${who} takes`,
      when: isAt('picked'),
      act: (state) => {
        const isTaken = take(state, job, state.jobs[job]!.run, limit, flaw);
        state.jobs[job]!.at = isTaken ? 'runs' : 'refused';
        return isTaken ? 'taken' : 'stands in line';
      },
    },
    {
      name: `${who} is put off`,
      when: isAt('refused'),
      act: (state) => {
        const looks = flaw !== 'no look after the job was put off';
        state.jobs[job]!.at = looks ? 'put off, about to look' : 'put off';
      },
    },
    {
      name: `${who}'s worker looks whether it was granted meanwhile`,
      // If it was woken before that, the look finds nothing to do.
      when: isAt('put off, about to look'),
      act: (state) => {
        state.jobs[job]!.at = 'put off';
        if (look(state, job, limit, flaw)) state.toWake[job] = true;
      },
    },
    {
      name: `${who} comes back by itself, as its safety net`,
      when: isAt('put off'),
      act: (state) => {
        state.jobs[job]!.at = 'waits';
      },
    },
    {
      name: `${who} ends in BullMQ`,
      when: isAt('runs'),
      act: (state) => {
        state.jobs[job]!.at = 'ended';
        state.toGive.push({ job, run: state.jobs[job]!.run });
      },
    },
    {
      name: `${who} fails in BullMQ, and waits for its next attempt`,
      when: (state) => isAt('runs')(state) && state.failuresLeft > 0,
      act: (state) => {
        state.failuresLeft -= 1;
        state.jobs[job]!.at = 'waits';
        state.toGive.push({ job, run: state.jobs[job]!.run });
      },
    },
  ];
}

/** Whether this run has a slot now; else its job stands in line. */
function take(state: State, job: number, run: number, limit: number, flaw: Flaw | undefined): boolean {
  const held = state.holders.find(
    (each) =>
      each.job === job && (each.run === run || each.run === GRANT || flaw === 'a hold is keyed by job id'),
  );
  if (held) {
    held.run = run;
    return true;
  }
  if (flaw === 'no grant: a slot is free for whoever comes') return grab(state, job, run, limit);
  if (!state.line.includes(job)) state.line.push(job);
  grant(state, limit, flaw, job);
  const granted = state.holders.find((each) => each.job === job && each.run === GRANT);
  if (granted) granted.run = run;
  return !!granted;
}

/** Whether its job was granted a slot; a slot that fell free unseen is granted now. It never stands in line again. */
function look(state: State, job: number, limit: number, flaw: Flaw | undefined): boolean {
  grant(state, limit, flaw, job);
  return state.holders.some((each) => each.job === job && each.run === GRANT);
}

/** Slots that are free go to those who stand first; who is not here to see it is woken. */
function grant(state: State, limit: number, flaw: Flaw | undefined, here: number): void {
  if (flaw === 'no grant: a slot is free for whoever comes') {
    if (state.holders.length < limit && state.line.length > 0) state.toWake[state.line[0]!] = true;
    return;
  }
  while (state.holders.length < limit && state.line.length > 0) {
    const first = state.line.shift()!;
    state.holders.push({ job: first, run: GRANT });
    if (first !== here) state.toWake[first] = true;
  }
}

/** What take does when nobody is granted anything. */
function grab(state: State, job: number, run: number, limit: number): boolean {
  if (state.holders.length >= limit) {
    if (!state.line.includes(job)) state.line.push(job);
    return false;
  }
  const place = state.line.includes(job) ? state.line.indexOf(job) : state.line.length;
  if (state.line.slice(0, place).some((other) => !isOver(state.jobs[other]!)))
    state.broke = 'first come, first served';
  state.line = state.line.filter((other) => other !== job);
  state.holders.push({ job, run });
  return true;
}

/** Nobody waits for these: a slot given back when its run is over, and a wake-up. */
function background(job: number, limit: number, flaw: Flaw | undefined): Step<State>[] {
  const byJob = flaw === 'a hold is keyed by job id';
  return [
    {
      name: `a worker gives a slot of job ${job + 1} back`,
      when: ({ toGive }) => toGive.some((each) => each.job === job),
      act: (state) => {
        const { run } = nextToGive(state, job);
        state.holders = state.holders.filter((each) => each.job !== job || (!byJob && each.run !== run));
        grant(state, limit, flaw, -1);
        return `that of run ${run}`;
      },
    },
    {
      name: `a worker wakes job ${job + 1}`,
      when: ({ toWake }) => toWake[job]!,
      act: (state) => {
        state.toWake[job] = false;
        if (!isPutOff(state.jobs[job]!)) return 'it is not put off';
        state.jobs[job]!.at = 'waits';
        return undefined;
      },
    },
  ];
}

function nextToGive(state: State, job: number): Hold {
  return state.toGive.splice(
    state.toGive.findIndex((each) => each.job === job),
    1,
  )[0]!;
}

function mishaps(job: number): Step<State>[] {
  return [
    {
      name: `the wake-up of job ${job + 1} is lost, or whoever was to wake it dies`,
      when: ({ toWake, mishapsLeft }) => toWake[job]! && mishapsLeft > 0,
      act: (state) => {
        state.mishapsLeft -= 1;
        state.toWake[job] = false;
      },
    },
    {
      name: `a worker dies before it gives a slot of job ${job + 1} back`,
      when: ({ toGive, mishapsLeft }) => mishapsLeft > 0 && toGive.some((each) => each.job === job),
      act: (state) => {
        state.mishapsLeft -= 1;
        nextToGive(state, job);
      },
    },
    {
      name: `job ${job + 1}'s worker dies`,
      when: ({ jobs, mishapsLeft }) => mishapsLeft > 0 && isInHands(jobs[job]!),
      act: (state) => {
        state.mishapsLeft -= 1;
        state.jobs[job]!.at = 'its worker died';
      },
    },
    {
      name: `job ${job + 1} is found stalled, and waits again`,
      when: ({ jobs }) => jobs[job]!.at === 'its worker died',
      act: (state) => {
        state.jobs[job]!.at = 'waits';
      },
    },
    {
      name: `job ${job + 1}, whose worker died, is cancelled`,
      when: ({ jobs }) => jobs[job]!.at === 'its worker died',
      act: (state) => {
        state.jobs[job]!.at = 'cancelled';
      },
    },
  ];
}

function leases(job: number, flaw: Flaw | undefined): Step<State>[] {
  return [
    {
      name: `a lease of job ${job + 1} ends`,
      when: (state) => state.holders.some((each) => each.job === job && mayEnd(state, each, flaw)),
      act: (state) => {
        state.holders = state.holders.filter((each) => each.job !== job || !mayEnd(state, each, flaw));
      },
    },
  ];
}

/** A run that lives holds on to its slot; any other hold ends with its lease. */
function mayEnd({ jobs }: State, { job, run }: Hold, flaw: Flaw | undefined): boolean {
  if (run === GRANT) return flaw !== 'a grant has no lease';
  return jobs[job]!.at !== 'runs' || jobs[job]!.run !== run;
}

/** By the runs' own account: who was let in, and has not ended. */
function tooManyRun({ jobs, holders }: State, limit: number): string | undefined {
  const running = jobs.filter(({ at }) => at === 'runs').length;
  return running > limit || holders.length > limit ? 'I36' : undefined;
}

/** A job that was granted a slot is told of it; only a mishap leaves it to its safety net. */
function forgotten({ jobs, holders, toWake, mishapsLeft }: State): string | undefined {
  if (mishapsLeft === 0) return undefined;
  const isForgotten = holders.some(
    ({ job, run }) => run === GRANT && jobs[job]!.at === 'put off' && !toWake[job],
  );
  return isForgotten ? 'who is granted a slot is woken' : undefined;
}

function isPutOff({ at }: Job): boolean {
  return at === 'put off' || at === 'put off, about to look';
}

function isInHands({ at }: Job): boolean {
  return at === 'picked' || at === 'refused' || at === 'runs';
}

function isOver({ at }: Job): boolean {
  return at === 'ended' || at === 'cancelled';
}

/** The jobs are alike: a state is what is so of each, in any order. Of runs only counts which came first. */
function key(state: State): string {
  const each = state.jobs.map((job, number) => sideOf(state, job, number)).toSorted();
  return `${each.join('')}${state.failuresLeft}${state.mishapsLeft}${state.broke}`;
}

function sideOf({ holders, toGive, line, toWake }: State, { at, run }: Job, number: number): string {
  const held = holders.filter(({ job }) => job === number);
  const owed = toGive.filter(({ job }) => job === number);
  const runs = [run, ...held.map((hold) => hold.run), ...owed.map((hold) => hold.run)];
  const place = (one: number) => runs.filter((other) => other < one).length;
  let text = `${STAGES.indexOf(at)}/${toWake[number] ? 1 : 0}${line.indexOf(number)}`;
  if (runs.length > 1) text += place(run);
  for (const hold of held) text += hold.run === GRANT ? 'g' : `h${place(hold.run)}`;
  for (const hold of owed) text += `o${place(hold.run)}`;
  return `${text};`;
}
