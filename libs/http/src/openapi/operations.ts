import type { RouteDescription } from './describes.js';
import { ACCEPTED_AT, ENDED_AT, PLACE } from './examples.js';

const OPERATION_ID = 'op-0mm7jb5k0-7d2f0c4e5b';
const OPERATION_PARAMETER = {
  operationId: ['The id that the start was answered with.', OPERATION_ID],
} as const;
const OPERATION = {
  operationId: OPERATION_ID,
  action: 'retry',
  filter: { kind: 'probe', error: 'timed out' },
  dryRun: true,
  state: 'done',
  seen: 500,
  matched: 120,
  done: 0,
  failed: 0,
  refused: 0,
  skipped: 0,
  samples: [{ ...PLACE, state: 'failed', error: 'timed out' }],
  groups: [{ kind: 'probe', error: 'timed out', count: 120 }],
  problems: [],
  by: 'night-shift',
  startedAt: ACCEPTED_AT,
  endedAt: ENDED_AT,
};

export const OPERATIONS = {
  start: {
    id: 'startOperation',
    summary: 'Retry, cancel or remove the jobs that a filter names',
    description:
      'A janitor does it in the background, each job once, also after a crash. To cancel also needs the scope `cancel`.',
    body: { action: 'retry', filter: { kind: 'probe', error: 'timed out' }, dryRun: true },
    answers: { 202: { operationId: OPERATION_ID } },
  },
  list: {
    id: 'listOperations',
    summary: 'List operations, newest first',
    answers: { 200: { operations: [OPERATION], cursor: null } },
  },
  read: {
    id: 'readOperation',
    summary: 'Read the progress of an operation',
    parameters: OPERATION_PARAMETER,
    answers: { 200: OPERATION },
    problems: ['NOT_FOUND'],
  },
  stop: {
    id: 'stopOperation',
    summary: 'Stop an operation',
    description: 'What it has changed stays changed.',
    parameters: OPERATION_PARAMETER,
    answers: { 200: { ...OPERATION, state: 'stopped', why: 'Stopped by night-shift.' } },
    problems: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDescription>;
