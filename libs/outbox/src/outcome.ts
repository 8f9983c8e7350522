import { MooringError } from '#core';

/** The outcome of a row, as `settle` stores it. */
export interface Outcome {
  readonly id: string;
  readonly state: 'done' | 'pending' | 'refused';
  readonly code?: string;
  readonly reason?: string;
  readonly retryInMs?: number;
}

/** The request will never be accepted as it is. */
const FINAL: ReadonlySet<string> = new Set([
  'INVALID',
  'TOO_LARGE',
  'OWNER_CLOSED',
  'OWNER_CANCELLED',
  'SLOT_LIMIT',
  'IDEMPOTENCY_CONFLICT',
]);
/** It will, when there is room, or when the store confirms it. */
const PASSING: ReadonlySet<string> = new Set([
  'QUEUE_FULL',
  'OWNER_FULL',
  'STORE_FULL',
  'CLOSED_FULL',
  'STORE_UNAVAILABLE',
  'DURABILITY_UNKNOWN',
]);
/** Of other errors, such as a kind that the relay does not know yet: about an hour. */
const MOST_ATTEMPTS = 60;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
const MAX_REASON = 500;

export function refusalOf(id: string, attempts: number, error: unknown): Outcome {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const code = error instanceof MooringError ? error.code : 'FAILED';
  // PostgreSQL's text holds no NUL, and no half of a surrogate pair.
  const reason = Buffer.from(message.slice(0, MAX_REASON)).toString().replaceAll('\0', '\uFFFD');
  const isFinal = FINAL.has(code) || (!PASSING.has(code) && attempts + 1 >= MOST_ATTEMPTS);
  if (isFinal) return { id, state: 'refused', code, reason };
  const retryInMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts, 10));
  return { id, state: 'pending', code, reason, retryInMs };
}

/** Whether the error may say that the store is away, rather than anything about the row. */
export function isUnexplained({ code }: Outcome): boolean {
  return code === 'FAILED';
}
