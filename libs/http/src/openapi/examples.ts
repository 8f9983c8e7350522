/** What several examples show. Ids and times differ in a real answer. */

export const JOB_ID = 'probe-28c714c639a8a8e42eda';
export const CANCEL_ID = '0f8a6c1e-2f5b-4f0e-9d51-7c4b8a1d2e33';
export const EPOCH = '01772357400765240';
export const ACCEPTED_AT = '2026-03-01T09:30:00.000Z';
export const BEGAN_AT = '2026-03-01T09:30:00.020Z';
export const ENDED_AT = '2026-03-01T09:30:00.140Z';

/** What is sent to try it: jobs that wait, fail and leave artifacts as they are told. */
export const ORDER = { kind: 'probe', owners: ['trip:42'], payload: { ms: 100 } };
export const PLACE = { id: JOB_ID, kind: 'probe', queue: 'probe', owners: ['trip:42'] };
export const TICKET = { outcome: 'created', ...PLACE };

export const JOB = {
  ...PLACE,
  state: 'completed',
  progress: 100,
  result: { ranMs: 100, attempt: 1 },
  error: null,
  attempts: 1,
  artifacts: [],
  timeline: [
    { at: ACCEPTED_AT, event: 'accepted' },
    { at: BEGAN_AT, event: 'began', attempt: 1 },
    { at: ENDED_AT, event: 'completed' },
  ],
};

export const WAITING_JOB = {
  ...JOB,
  state: 'waiting',
  progress: 0,
  result: null,
  attempts: 0,
  timeline: [{ at: ACCEPTED_AT, event: 'accepted' }],
};

export const RECEIPT = {
  cancelId: CANCEL_ID,
  owner: 'trip:42',
  epoch: EPOCH,
  reason: 'The trip was cancelled.',
  by: 'shop',
  at: ACCEPTED_AT,
  closed: true,
  removed: 2,
  aborted: 1,
  acknowledged: 0,
  ignored: 0,
  running: 1,
  byQueue: { probe: { removed: { waiting: 1, delayed: 1 }, aborted: 1, running: 1 } },
  schedules: 0,
  done: false,
  durable: false,
};

export const JOB_PARAMETER = { id: ['The id of the job, as its ticket names it.', JOB_ID] } as const;
export const OWNER_PARAMETERS = {
  type: ['The type of the owner.', 'trip'],
  id: ['The id of the owner within its type.', '42'],
} as const;
