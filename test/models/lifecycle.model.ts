import type { Model, Step } from './explore.js';
import { key } from './lifecycle.key.js';
import * as scripts from './lifecycle.scripts.js';
import type { Rules } from './lifecycle.scripts.js';
import {
  IDLE,
  isUnderWay,
  JOBS,
  PRODUCERS,
  start,
  WORKERS,
  type State,
  type Worker,
} from './lifecycle.state.js';

/*
 * One owner. Two producers, each with a job of its own and, if there is a key, the same one, strategy skip. A canceller, two
 * workers, a janitor, and time. One of them, producer or worker, may die; one worker may be paused for so long that its lock,
 * its lease or both are lost. Messages do not exist: what holds here, holds whichever of them are lost.
 */

export function lifecycleModel(rules: Rules): Model<State> {
  return {
    start: start(),
    steps: [
      ...PRODUCERS.flatMap((p) => producer(p, rules)),
      ...WORKERS.flatMap((w) => worker(w, rules)),
      ...WORKERS.flatMap((w) => misfortune(w)),
      ...canceller(rules),
      ...janitor(rules),
      ...time(rules),
    ],
    broken: (state) => state.broke || liveRunOutsideIndex(state),
    key,
  };
}

/** Reserve, add, answer. Whoever is too slow between the two gives up; that looks the same as dying there. */
function producer(p: number, rules: Rules): Step<State>[] {
  const who = `producer ${p + 1}`;
  const isSplit = rules.has('reserve split in epoch and index');
  return [
    {
      name: `${who} reserves job ${p + 1}`,
      when: ({ producers }) => !isSplit && producers[p]!.at === 'start',
      act: (state) => {
        const { word, job, epoch } = scripts.reserve(state.owner, p, rules);
        if (rules.isKeyed && word === 'skip' && state.owner.record!.index[job]!.epoch !== epoch)
          state.broke = 'I11';
        if (state.canceller === 'returned') state.cameAfter[job] = true;
        state.producers[p] = { at: 'reserved', job, epoch };
        return word === 'new' ? `new, epoch ${epoch}` : `its twin is job ${job + 1}`;
      },
    },
    {
      name: `${who} reads the epoch (split reserve)`,
      when: ({ producers }) => isSplit && producers[p]!.at === 'start',
      act: (state) => {
        if (state.canceller === 'returned') state.cameAfter[p] = true;
        state.producers[p] = { at: 'has epoch', job: p, epoch: scripts.currentEpoch(state.owner, rules) };
      },
    },
    {
      name: `${who} writes the index (split reserve)`,
      when: ({ producers }) => producers[p]!.at === 'has epoch',
      act: (state) => {
        scripts.writeIndex(state.owner, p, state.producers[p]!.epoch, rules);
        state.producers[p]!.at = 'reserved';
      },
    },
    {
      name: `${who} adds the job, and answers`,
      when: ({ producers }) => producers[p]!.at === 'reserved',
      act: (state) => {
        const { job, epoch } = state.producers[p]!;
        leaveTheStage(state, p);
        if (state.queue[job] !== 'none') return `job ${job + 1} is there already`;
        state.queue[job] = 'waiting';
        state.carries[job] = epoch;
        return `job ${job + 1} waits`;
      },
    },
    {
      name: `${who} dies, or gives up, before it adds`,
      when: ({ producers, crashesLeft }) => crashesLeft > 0 && isUnderWay(producers[p]!),
      act: (state) => {
        state.crashesLeft -= 1;
        leaveTheStage(state, p);
      },
    },
  ];
}

function leaveTheStage(state: State, p: number): void {
  state.producers[p] = { at: 'over', job: 0, epoch: 0 };
}

/** Pick-up, begin, the handler, commit, BullMQ's finish, end. */
function worker(w: number, rules: Rules): Step<State>[] {
  const who = `worker ${w + 1}`;
  const isAt = (at: Worker['at']) => (state: State) => state.workers[w]!.at === at;
  const isSplit = rules.has('begin split in read and write');
  return [
    ...JOBS.map((job): Step<State> => ({
      name: `${who} picks job ${job + 1} up`,
      when: (state) => isAt('idle')(state) && state.queue[job] === 'waiting',
      act: (state) => {
        state.queue[job] = 'held';
        state.workers[w] = { ...IDLE, at: 'picked', job, holdsLock: true };
      },
    })),
    {
      name: `${who} asks to begin`,
      when: isAt('picked'),
      act: (state) => {
        const { job } = state.workers[w]!;
        const verdict = scripts.judge(state.owner, job, state.carries[job]!, rules);
        watchRefusal(state, job, verdict);
        switch (verdict) {
          case 'run':
            if (isSplit) state.workers[w]!.at = 'judged';
            else beginRun(state, w);
            break;
          case 'busy':
          case 'unknown':
            putBack(state, w);
            break;
          case 'done':
          case 'cancelled':
          case 'superseded':
            state.workers[w]!.at = 'finishes';
        }
        return verdict;
      },
    },
    {
      name: `${who} writes its run down (split begin)`,
      when: isAt('judged'),
      act: (state) => beginRun(state, w),
    },
    {
      name: `${who} commits`,
      when: isAt('runs'),
      act: (state) => {
        const { job, token } = state.workers[w]!;
        const word = scripts.commit(state.owner, job, token, state.carries[job]!, rules);
        if (word === 'ok') watchCommit(state, job, token);
        // A run that was overtaken takes only itself away; what BullMQ does with its job depends on the lock.
        if (word === 'stale') putBack(state, w);
        else state.workers[w]!.at = 'finishes';
        return word;
      },
    },
    {
      name: `${who}'s handler fails for good`,
      when: isAt('runs'),
      act: (state) => {
        state.workers[w]!.at = 'finishes';
      },
    },
    {
      name: `${who} finishes the job in BullMQ`,
      when: isAt('finishes'),
      act: (state) => {
        const { job, token, holdsLock } = state.workers[w]!;
        if (holdsLock) state.queue[job] = 'none';
        if (holdsLock || token !== 0)
          Object.assign(state.workers[w]!, { at: 'ends', holdsLock: false, leaves: holdsLock });
        else state.workers[w] = { ...IDLE };
        return holdsLock ? 'it is gone' : 'refused, the lock is lost';
      },
    },
    {
      name: `${who} ends`,
      when: isAt('ends'),
      act: (state) => {
        const { job, token, leaves } = state.workers[w]!;
        scripts.end(state.owner, job, token, leaves, rules);
        state.workers[w] = { ...IDLE };
        return leaves ? `job ${job + 1} leaves the index` : 'only its run';
      },
    },
  ];
}

function beginRun(state: State, w: number): void {
  const { job } = state.workers[w]!;
  const token = scripts.writeRun(state.owner, job, state.carries[job]!);
  if (state.cameBefore[job] && state.canceller === 'returned') state.broke = 'I1';
  state.isServed[job] = true;
  state.newest[job] = token;
  Object.assign(state.workers[w]!, { at: 'runs', token });
}

/** The job waits again, if it is still this worker's to say so. */
function putBack(state: State, w: number): void {
  const { job, holdsLock } = state.workers[w]!;
  if (holdsLock) state.queue[job] = 'waiting';
  state.workers[w] = { ...IDLE };
}

/** What may happen to a worker: one dies, one is paused. BullMQ and the leases see no difference. */
function misfortune(w: number): Step<State>[] {
  const who = `worker ${w + 1}`;
  const isAway = (state: State) =>
    state.workers[w]!.at === 'dead' || state.workers[w]!.isPaused || state.pausesLeft > 0;
  const markAway = (state: State) => {
    if (state.workers[w]!.at === 'dead' || state.workers[w]!.isPaused) return;
    state.workers[w]!.isPaused = true;
    state.pausesLeft -= 1;
  };
  return [
    {
      name: `${who} dies`,
      when: ({ workers, crashesLeft }) =>
        crashesLeft > 0 && workers[w]!.at !== 'idle' && workers[w]!.at !== 'dead',
      act: (state) => {
        const { job, token, leaseIsOver, holdsLock } = state.workers[w]!;
        state.workers[w] = { ...IDLE, at: 'dead', job, token, leaseIsOver, holdsLock };
        state.crashesLeft -= 1;
      },
    },
    {
      name: `${who} is not heard of: BullMQ takes its lock away`,
      when: (state) => state.workers[w]!.holdsLock && isAway(state),
      act: (state) => {
        markAway(state);
        state.workers[w]!.holdsLock = false;
        state.queue[state.workers[w]!.job] = 'waiting';
        return 'the job waits again';
      },
    },
    {
      name: `${who} is not heard of once too often: BullMQ fails the job`,
      when: (state) => state.workers[w]!.holdsLock && isAway(state),
      act: (state) => {
        markAway(state);
        const { job } = state.workers[w]!;
        state.workers[w]!.holdsLock = false;
        state.queue[job] = 'none';
        state.toForget[job] = true;
        state.isServed[job] = true;
      },
    },
    {
      name: `${who} is not heard of: its lease ends`,
      when: (state) => hasLease(state.workers[w]!) && isAway(state),
      act: (state) => {
        markAway(state);
        state.workers[w]!.leaseIsOver = true;
        for (const run of state.owner.runs) run.isOver ||= run.token === state.workers[w]!.token;
      },
    },
  ];
}

/** The script is the point of no return; what it removes from the queue afterwards is tidiness. */
function canceller(rules: Rules): Step<State>[] {
  return [
    {
      name: 'the canceller cancels',
      when: (state) => state.canceller === 'start',
      act: (state) => {
        for (const job of JOBS) state.cameBefore[job] = state.queue[job] !== 'none';
        const told = scripts.cancel(state.owner, rules);
        if (told.toSorted(ascending).join() !== startedAndNotOver(state).join()) state.broke = 'I4';
        state.canceller = 'moved';
        return `${told.length} running`;
      },
    },
    {
      name: 'the canceller removes what waits, and returns',
      when: (state) => state.canceller === 'moved',
      act: (state) => {
        for (const job of JOBS) {
          const isOld = state.carries[job] !== state.owner.record?.epoch || rules.has('no epoch');
          if (isOld && state.queue[job] === 'waiting') state.queue[job] = 'none';
        }
        state.canceller = 'returned';
      },
    },
  ];
}

/** Drops index entries whose job does not exist, once they are older than any producer may be late. */
function janitor(rules: Rules): Step<State>[] {
  const hasGrace = !rules.has('dangling entries dropped without grace');
  return [
    ...JOBS.map((job): Step<State> => ({
      name: `the janitor finds an old entry of job ${job + 1}, and no job`,
      when: (state) =>
        !state.janitor &&
        !!state.owner.record?.index[job] &&
        state.queue[job] === 'none' &&
        !(hasGrace && state.producers.some((each) => each.at === 'reserved' && each.job === job)),
      act: (state) => {
        state.janitor = { job, seen: { ...state.owner.record!.index[job]! } };
      },
    })),
    {
      name: 'the janitor drops the entry',
      when: (state) => !!state.janitor,
      act: (state) => {
        const { job, seen } = state.janitor!;
        state.janitor = null;
        return scripts.dropDangling(state.owner, job, seen, rules) ? undefined : 'it has changed, and stays';
      },
    },
  ];
}

/** What happens by itself, or in the background. */
function time(rules: Rules): Step<State>[] {
  const needsEmptyIndex = !rules.has('record expires while its index is not empty');
  return [
    {
      name: "the owner's record expires",
      // It is kept for longer than a producer may be late.
      when: ({ owner, producers }) =>
        !!owner.record &&
        !(needsEmptyIndex && owner.record.index.some(Boolean)) &&
        !(needsEmptyIndex && producers.some((each) => each.at === 'reserved')),
      act: (state) => {
        state.owner.record = null;
      },
    },
    ...JOBS.map((job): Step<State> => ({
      name: `job ${job + 1}, which BullMQ failed by itself, leaves the index`,
      when: (state) => state.toForget[job]!,
      act: (state) => {
        state.toForget[job] = false;
        scripts.end(state.owner, job, 0, true, rules);
      },
    })),
  ];
}

/** A job that may run, and that nobody's cancel or run stands against, must not be refused. */
function watchRefusal(state: State, job: number, verdict: scripts.Verdict): void {
  if (state.isServed[job]) return;
  const isOwedARun = state.canceller === 'start' || state.cameAfter[job];
  if (isOwedARun && (verdict === 'cancelled' || verdict === 'unknown')) state.broke = 'I2';
  if (isOwedARun && verdict === 'superseded') state.broke = 'I13';
}

function watchCommit(state: State, job: number, token: number): void {
  state.commits[job]! += 1;
  const isOfThisEpoch = state.owner.record?.epoch === state.carries[job];
  if (state.commits[job]! > 1 || state.newest[job] !== token || !isOfThisEpoch) state.broke = 'I9';
}

/** By the workers' own account, whatever the running set says. */
function startedAndNotOver({ workers }: State): number[] {
  return workers
    .filter(hasLease)
    .map(({ token }) => token)
    .toSorted(ascending);
}

function ascending(a: number, b: number): number {
  return a - b;
}

function hasLease({ token, leaseIsOver }: Worker): boolean {
  return token !== 0 && !leaseIsOver;
}

function liveRunOutsideIndex({ owner: { record, runs }, carries }: State): string | undefined {
  const isLost =
    record && runs.some(({ job, isOver }) => !isOver && carries[job] === record.epoch && !record.index[job]);
  return isLost ? 'I40' : undefined;
}
