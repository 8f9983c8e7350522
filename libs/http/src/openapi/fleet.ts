import type { RouteDescription } from './describes.js';
import { ACCEPTED_AT, BEGAN_AT, ENDED_AT, JOB_ID } from './examples.js';

const DAY_MS = 86_400_000;

export const KINDS = {
  list: {
    id: 'listKinds',
    summary: 'List the kinds of jobs',
    answers: {
      200: {
        kinds: [
          {
            name: 'probe',
            queue: 'probe',
            class: 'normal',
            attempts: 3,
            timeoutMs: 300_000,
            graceMs: 5_000,
            expiresInMs: null,
            dedup: 'none',
            maxPayloadBytes: 262_144,
            keep: { completed: { ageMs: DAY_MS, count: 1000 }, failed: { ageMs: DAY_MS, count: 1000 } },
            artifacts: true,
            offered: true,
            hides: [],
          },
        ],
      },
    },
  },
} as const satisfies Record<string, RouteDescription>;

export const WORKERS = {
  list: {
    id: 'listWorkers',
    summary: 'List the processes that take jobs',
    answers: {
      200: {
        workers: [
          {
            id: '048b28b9-d6e7-45a6-a3a2-654f83a75a5e',
            host: 'worker-1',
            pid: 4711,
            version: '0.1.0',
            state: 'running',
            startedAt: ACCEPTED_AT,
            heartbeatAt: ENDED_AT,
            queues: [{ queue: 'probe', concurrency: 10, kinds: ['probe'] }],
            running: 1,
            runs: [
              {
                jobId: JOB_ID,
                kind: 'probe',
                queue: 'probe',
                owner: 'trip:42',
                attempt: 1,
                since: BEGAN_AT,
              },
            ],
          },
        ],
      },
    },
  },
} as const satisfies Record<string, RouteDescription>;

export const LOAD = {
  read: {
    id: 'readLoad',
    summary: 'Read how much work there is, for an autoscaler',
    description:
      'Waiting and running jobs as one number. Delayed jobs that are due count as waiting: only a worker moves them.',
    parameters: {
      kinds: ['Names of kinds, separated by commas, as in WORKER_KINDS. Default: all queues.', 'probe'],
    },
    answers: {
      200: {
        load: 12,
        waiting: 10,
        running: 2,
        queues: [{ queue: 'probe', load: 12, waiting: 10, running: 2, paused: false }],
      },
    },
    problems: ['UNKNOWN_KIND'],
  },
} as const satisfies Record<string, RouteDescription>;

export const ME = {
  read: {
    id: 'readCaller',
    summary: 'Read what this caller may do',
    answers: { 200: { name: 'night-shift', scopes: ['read', 'cancel'] } },
  },
} as const satisfies Record<string, RouteDescription>;
