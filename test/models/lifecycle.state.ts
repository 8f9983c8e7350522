import type { Entry, Owner } from './lifecycle.scripts.js';

export interface Producer {
  at: 'start' | 'has epoch' | 'reserved' | 'over';
  job: number;
  epoch: number;
}

export interface Worker {
  at: 'idle' | 'picked' | 'judged' | 'runs' | 'finishes' | 'ends' | 'dead';
  job: number;
  /** Of its run, until that has ended; 0 for none. */
  token: number;
  leaseIsOver: boolean;
  holdsLock: boolean;
  isPaused: boolean;
  leaves: boolean;
}

export interface State {
  owner: Owner;
  /** BullMQ: where each job is, and the epoch it carries. A finished job is gone, so that an add makes it anew. */
  queue: ('none' | 'waiting' | 'held')[];
  carries: number[];
  producers: Producer[];
  canceller: 'start' | 'moved' | 'returned';
  workers: Worker[];
  janitor: { job: number; seen: Entry } | null;
  /** Jobs that BullMQ ended by itself, and whose end our side has still to write down. */
  toForget: boolean[];
  crashesLeft: number;
  pausesLeft: number;

  // What only the watcher knows.
  /** Was in the queue before the cancel began. */
  cameBefore: boolean[];
  /** Was reserved, or answered as the twin, after the cancel had returned. */
  cameAfter: boolean[];
  /** Has begun once, or BullMQ ended it: nobody is owed a run any more. */
  isServed: boolean[];
  commits: number[];
  newest: number[];
  broke: string;
}

export const JOBS = [0, 1];
export const PRODUCERS = [0, 1];
export const WORKERS = [0, 1];

export const IDLE: Worker = {
  at: 'idle',
  job: 0,
  token: 0,
  leaseIsOver: false,
  holdsLock: false,
  isPaused: false,
  leaves: false,
};

export function start(): State {
  return {
    owner: { record: null, runs: [], dedup: null, done: [false, false], clock: 0, lastToken: 0 },
    queue: ['none', 'none'],
    carries: [0, 0],
    producers: PRODUCERS.map(() => ({ at: 'start', job: 0, epoch: 0 })),
    canceller: 'start',
    workers: WORKERS.map(() => ({ ...IDLE })),
    janitor: null,
    toForget: [false, false],
    crashesLeft: 1,
    pausesLeft: 1,
    cameBefore: [false, false],
    cameAfter: [false, false],
    isServed: [false, false],
    commits: [0, 0],
    newest: [0, 0],
    broke: '',
  };
}

export function isUnderWay({ at }: Producer): boolean {
  return at === 'has epoch' || at === 'reserved';
}
