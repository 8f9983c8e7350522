import type { RouteDescription } from './describes.js';
import { ACCEPTED_AT, BEGAN_AT, ENDED_AT, JOB_ID } from './examples.js';

const QUEUE_PARAMETER = { queue: ['The name of the queue.', 'probe'] } as const;

export const QUEUES = {
  read: {
    id: 'listQueues',
    summary: 'List queues with their counts',
    answers: {
      200: {
        queues: [
          {
            queue: 'probe',
            counts: { active: 1, completed: 120, delayed: 0, failed: 2, waiting: 3, 'waiting-children': 0 },
            oldestWaitingMs: 250,
            paused: false,
          },
        ],
      },
    },
  },
  pause: {
    id: 'pauseQueue',
    summary: 'Pause a queue',
    description: 'No job of it starts; running ones continue.',
    parameters: QUEUE_PARAMETER,
    answers: { 200: { queue: 'probe', paused: true } },
    problems: ['NOT_FOUND'],
  },
  resume: {
    id: 'resumeQueue',
    summary: 'Resume a queue',
    parameters: QUEUE_PARAMETER,
    answers: { 200: { queue: 'probe', paused: false } },
    problems: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDescription>;

const SLOT_PARAMETER = { key: ['The key of the slot, as jobs name it.', 'driver:7'] } as const;
const SLOT = {
  key: 'driver:7',
  limit: 2,
  rate: { max: 10, per: 1_000 },
  tokenInMs: 0,
  holding: 1,
  waiting: 0,
  holders: [{ jobId: JOB_ID, since: BEGAN_AT }],
  waiters: [],
};

export const SLOTS = {
  read: {
    id: 'readSlot',
    summary: 'Read who holds a slot and who waits for it',
    parameters: SLOT_PARAMETER,
    answers: { 200: SLOT },
  },
  set: {
    id: 'setSlotLimit',
    summary: 'Set how many jobs of a slot run at once, and how many start in a time',
    parameters: SLOT_PARAMETER,
    body: { limit: 2, rate: { max: 10, per: '1s' } },
    answers: { 200: SLOT },
  },
} as const satisfies Record<string, RouteDescription>;

const SWEEP_ID = 'orphans-1772357400000-0';
const SWEEP = {
  sweepId: SWEEP_ID,
  sweep: 'orphans',
  state: 'done',
  dryRun: true,
  force: false,
  onRequest: true,
  askedAt: ACCEPTED_AT,
  endedAt: ENDED_AT,
  seen: 40,
  removed: 1,
  kept: 37,
  unknown: 2,
  failed: 0,
  healed: 0,
  jobs: 3,
  tookMs: 120,
  worstStallMs: 0.6,
};

export const SWEEPS = {
  ask: {
    id: 'requestSweep',
    summary: 'Request a sweep',
    parameters: { sweep: ['The kind of the sweep.', 'orphans'] },
    body: { dryRun: true },
    answers: { 202: { sweepId: SWEEP_ID } },
  },
  list: {
    id: 'listSweeps',
    summary: 'List sweeps, newest first, and the kinds that are tripped',
    answers: {
      200: {
        sweeps: [SWEEP],
        tripped: { retention: { at: ENDED_AT, sweepId: 'retention-7', why: 'It would remove 40% at once.' } },
      },
    },
  },
  read: {
    id: 'readSweep',
    summary: 'Read a sweep and what it removed',
    parameters: { sweep: ['The id that the request was answered with.', SWEEP_ID] },
    answers: {
      200: { ...SWEEP, lines: [{ what: 'trip:42', why: 'its resolver says that it is gone' }], cursor: null },
    },
    problems: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDescription>;

export const QUARANTINE = {
  list: {
    id: 'listQuarantine',
    summary: 'List the jobs that the retention sweep cannot remove',
    answers: {
      200: { jobs: [{ jobId: JOB_ID, at: ENDED_AT, why: 'its artifacts cannot be removed' }], cursor: null },
    },
  },
} as const satisfies Record<string, RouteDescription>;

export const AUDIT = {
  read: {
    id: 'listAudit',
    summary: 'List what callers changed, newest first',
    description: 'An entry for each call that changed something, or was refused. Enqueues are left out.',
    answers: {
      200: {
        entries: [
          {
            id: '1772357400000-0',
            at: ACCEPTED_AT,
            who: 'ops',
            what: 'owner.cancel',
            on: 'trip:42',
            outcome: 'done',
            status: 200,
            requestId: '2f1c9d34-5d0b-4f4e-9a54-0b6c1f7f0a11',
            address: '10.0.0.7',
            details: { reason: 'called off' },
          },
        ],
        cursor: null,
      },
    },
  },
} as const satisfies Record<string, RouteDescription>;
