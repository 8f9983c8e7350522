import type { RouteDescription } from './describes.js';
import {
  ACCEPTED_AT,
  BEGAN_AT,
  ENDED_AT,
  JOB,
  JOB_ID,
  JOB_PARAMETER,
  ORDER,
  PLACE,
  RECEIPT,
  TICKET,
  WAITING_JOB,
} from './examples.js';
import { known } from './known-problems.js';

const REFUSED = ['UNKNOWN_KIND', 'OWNER_CLOSED', 'SLOT_LIMIT', 'QUEUE_FULL', 'OWNER_FULL'] as const;

/** How jobs come and go. */
export const JOBS = {
  enqueue: {
    id: 'enqueueJob',
    summary: 'Enqueue a job',
    description:
      'If a job with the same deduplication key is pending, `dedup.strategy` says what happens: the answer is then 200 with that job, or 201 `replaced`.',
    body: ORDER,
    answers: { 201: TICKET, 200: { ...TICKET, outcome: 'skipped' } },
    problems: [...REFUSED, 'IDEMPOTENCY_CONFLICT'],
  },
  enqueueBatch: {
    id: 'enqueueJobs',
    summary: 'Enqueue up to 1000 jobs',
    description:
      'Each job is accepted or refused by itself: its result has the status and the members that a call with this job alone would be answered with.',
    body: { jobs: [ORDER, { ...ORDER, kind: 'prob' }] },
    answers: {
      200: {
        results: [
          { status: 201, ...TICKET },
          { ...known('UNKNOWN_KIND'), requestId: 'a-request' },
        ],
      },
    },
  },
  list: {
    id: 'listJobs',
    summary: 'List jobs, newest first',
    description:
      'The filters combine. A page may hold fewer jobs than asked, or none, and a cursor: go on until it is null. An unknown queue is refused (`INVALID`), and so is an unknown kind on the last page, if no page had jobs.',
    parameters: {
      queue: ['Jobs of this queue.', 'probe'],
      kind: ['Jobs of this kind.', 'probe'],
      state: ['Jobs in this state.', 'failed'],
      owner: ['Jobs of this owner, as in trip:42.', 'trip:42'],
      error: ['A part of the text of the failure; case matters.', 'timed out'],
    },
    answers: {
      200: {
        jobs: [
          {
            ...PLACE,
            state: 'failed',
            error: 'timed out',
            attempts: 3,
            acceptedAt: ACCEPTED_AT,
            beganAt: BEGAN_AT,
            endedAt: ENDED_AT,
            dueAt: null,
          },
        ],
        cursor: null,
      },
    },
  },
  read: {
    id: 'readJob',
    summary: 'Read a job',
    description: 'A job that was removed is `removed`, with the reason, as long as the history is kept.',
    parameters: JOB_PARAMETER,
    answers: { 200: JOB },
    problems: ['NOT_FOUND'],
  },
  payload: {
    id: 'readJobPayload',
    summary: 'Read the payload of a job',
    parameters: JOB_PARAMETER,
    answers: { 200: { id: JOB_ID, kind: 'probe', payload: { ms: 100 } } },
    problems: ['NOT_FOUND'],
  },
  log: {
    id: 'readJobLog',
    summary: 'Read what the runs of a job logged',
    parameters: JOB_PARAMETER,
    answers: {
      200: { id: JOB_ID, lines: [{ at: BEGAN_AT, level: 'info', text: 'attempt 1 begins' }] },
    },
    problems: ['NOT_FOUND'],
  },
  cancel: {
    id: 'cancelJob',
    summary: 'Cancel a job',
    description: 'It never starts any more; if it runs, it is told to stop. A job that has ended stays.',
    parameters: JOB_PARAMETER,
    answers: { 200: { ...RECEIPT, job: JOB_ID, closed: false } },
    problems: ['NOT_FOUND'],
  },
  retry: {
    id: 'retryJob',
    summary: 'Let a failed job wait again',
    description: 'Under the present epochs of its owners. Of several calls at once one succeeds.',
    parameters: JOB_PARAMETER,
    body: { reset: true },
    answers: { 200: WAITING_JOB },
    problems: ['NOT_FOUND', 'NOT_FAILED', 'OWNER_CLOSED', 'DUPLICATE', 'QUEUE_FULL', 'OWNER_FULL'],
  },
  promote: {
    id: 'promoteJob',
    summary: 'Let a delayed job wait now',
    parameters: JOB_PARAMETER,
    answers: { 200: WAITING_JOB },
    problems: ['NOT_FOUND', 'NOT_DELAYED'],
  },
  setPriority: {
    id: 'setJobPriority',
    summary: 'Set the priority of a job that has not begun',
    parameters: JOB_PARAMETER,
    body: { priority: 1 },
    answers: { 200: WAITING_JOB },
    problems: ['NOT_FOUND', 'NOT_WAITING'],
  },
} as const satisfies Record<string, RouteDescription>;

export const ARTIFACTS = {
  read: {
    id: 'readArtifact',
    summary: 'Read an artifact of a job',
    description: 'An attachment. `If-None-Match` and one range of bytes are honoured.',
    parameters: {
      ...JOB_PARAMETER,
      name: ['The name of the artifact.', 'probe.bin'],
      'If-None-Match': ['The ETag of a copy that the caller has.'],
      Range: ['One range of bytes.', 'bytes=0-1023'],
    },
    problems: ['NOT_FOUND', 'RANGE_NOT_SATISFIABLE', 'ARTIFACT_UNAVAILABLE'],
  },
} as const satisfies Record<string, RouteDescription>;
