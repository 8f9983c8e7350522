import type { RouteDescription } from './describes.js';
import { ACCEPTED_AT, JOB_ID, ORDER, PLACE } from './examples.js';

const CHILD_ID = 'probe-f7f44dda7d76232b58e1';
const REFUSED = ['UNKNOWN_KIND', 'OWNER_CLOSED', 'SLOT_LIMIT', 'QUEUE_FULL', 'OWNER_FULL'] as const;

export const FLOWS = {
  add: {
    id: 'enqueueFlow',
    summary: 'Enqueue a tree of jobs',
    description: 'Each job waits for its children. A child without owners has those of its parent.',
    body: { ...ORDER, onChildFailure: 'fail', children: [{ kind: 'probe', payload: { ms: 50 } }] },
    answers: { 201: { ...PLACE, children: [{ ...PLACE, id: CHILD_ID, children: [] }] } },
    problems: REFUSED,
  },
  tree: {
    id: 'readFlow',
    summary: 'Read a job and those below it',
    parameters: { jobId: ['The id of any job of the flow.', JOB_ID] },
    answers: {
      200: {
        ...PLACE,
        state: 'waiting',
        error: null,
        children: [{ ...PLACE, id: CHILD_ID, state: 'running', error: null, children: [] }],
        parent: null,
      },
    },
    problems: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDescription>;

const SCHEDULE_PARAMETER = {
  id: ['The id of the schedule, chosen by the caller.', 'nightly-report'],
} as const;
const SCHEDULE = {
  id: 'nightly-report',
  kind: 'probe',
  owners: ['trip:42'],
  every: null,
  cron: '30 2 * * *',
  timezone: 'Europe/Berlin',
  nextAt: '2026-03-02T01:30:00.000Z',
  lastAt: null,
  lastJobId: null,
  state: 'active',
  error: null,
};

export const SCHEDULES = {
  list: {
    id: 'listSchedules',
    summary: 'List schedules',
    answers: { 200: { schedules: [{ ...SCHEDULE, lastAt: ACCEPTED_AT, lastJobId: JOB_ID }], cursor: null } },
  },
  put: {
    id: 'putSchedule',
    summary: 'Create or replace a schedule',
    description: 'Set either `every` or `cron`. Cancelling one of its owners ends it.',
    parameters: SCHEDULE_PARAMETER,
    body: { ...ORDER, cron: '30 2 * * *', timezone: 'Europe/Berlin' },
    answers: { 201: SCHEDULE, 200: SCHEDULE },
    problems: ['UNKNOWN_KIND', 'OWNER_CLOSED', 'SCHEDULE_ENDED', 'SLOT_LIMIT', 'OWNER_FULL', 'QUEUE_FULL'],
  },
  read: {
    id: 'readSchedule',
    summary: 'Read a schedule',
    parameters: SCHEDULE_PARAMETER,
    answers: { 200: SCHEDULE },
    problems: ['NOT_FOUND'],
  },
  remove: {
    id: 'deleteSchedule',
    summary: 'Delete a schedule',
    parameters: SCHEDULE_PARAMETER,
    problems: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDescription>;
