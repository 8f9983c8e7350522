import type { RouteDescription } from './describes.js';
import { ACCEPTED_AT, CANCEL_ID, EPOCH, JOB_ID, OWNER_PARAMETERS, PLACE, RECEIPT } from './examples.js';

export const OWNER = {
  read: {
    id: 'readOwner',
    summary: 'Read an owner and its jobs',
    parameters: OWNER_PARAMETERS,
    answers: {
      200: {
        owner: 'trip:42',
        state: 'open',
        epoch: '1772357400568843',
        counts: { jobs: 1, running: 0, ending: 0 },
        jobs: [
          {
            id: JOB_ID,
            queue: 'probe',
            kind: 'probe',
            state: 'waiting',
            acceptedAt: ACCEPTED_AT,
            hasBegun: false,
          },
        ],
        cursor: null,
      },
    },
  },
  cancel: {
    id: 'cancelOwner',
    summary: 'Cancel an owner',
    description:
      'After the answer no job of the owner that was enqueued before ever starts, and running ones are told to stop.',
    parameters: OWNER_PARAMETERS,
    body: { reason: 'The trip was cancelled.', close: true },
    answers: { 200: RECEIPT },
    problems: ['IDEMPOTENCY_CONFLICT', 'CLOSED_FULL'],
  },
  reopen: {
    id: 'reopenOwner',
    summary: 'Reopen an owner',
    description: 'New jobs are accepted again. Old ones stay cancelled.',
    parameters: OWNER_PARAMETERS,
    answers: { 200: { owner: 'trip:42', state: 'open', epoch: EPOCH } },
    problems: ['CLOSED_FULL'],
  },
  history: {
    id: 'readOwnerHistory',
    summary: 'Read which jobs of an owner were removed, when, why and by whom',
    parameters: OWNER_PARAMETERS,
    answers: {
      200: {
        owner: 'trip:42',
        entries: [
          {
            ...PLACE,
            at: ACCEPTED_AT,
            state: 'waiting',
            why: 'cancelled',
            reason: RECEIPT.reason,
            by: 'shop',
            cancelId: CANCEL_ID,
          },
        ],
        cursor: null,
      },
    },
  },
} as const satisfies Record<string, RouteDescription>;

export const OWNERS = {
  list: {
    id: 'listOwners',
    summary: 'List the owners that have unfinished jobs or a record',
    parameters: {
      type: ['Owners of this type.', 'trip'],
      prefix: ['How the id begins, with a type; or how the name begins.', '4'],
      state: ['Owners in this state.', 'open'],
    },
    answers: {
      200: {
        owners: [
          {
            owner: 'trip:42',
            state: 'open',
            counts: { jobs: 3, running: 1 },
            oldestJobMs: 4200,
            lookedAt: 3,
          },
        ],
        cursor: null,
      },
    },
  },
} as const satisfies Record<string, RouteDescription>;

export const CANCELLATIONS = {
  list: {
    id: 'listCancellations',
    summary: 'List cancellations, newest first',
    parameters: { open: ['true: those whose jobs have not all left. false: the others.', true] },
    answers: { 200: { cancellations: [RECEIPT], cursor: null } },
  },
  read: {
    id: 'readCancellation',
    summary: 'Read the receipt of a cancellation as it stands now',
    parameters: { cancelId: ['The id that the receipt has.', CANCEL_ID] },
    answers: { 200: { ...RECEIPT, acknowledged: 1, running: 0, done: true } },
    problems: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDescription>;
