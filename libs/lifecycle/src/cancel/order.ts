import { durationMs, type Duration } from '#durations';
import { randomUUID } from 'node:crypto';
import { InvalidJobError } from '../errors.js';

const MAX_TEXT = 500;
const MAX_ID_BYTES = 200;
const MAX_WAIT_MS = 120_000;
const CLEAN_UP_MS = 1_000;
const DEFAULT_WAIT_MS = 30_000;

export interface CancelOptions {
  /** Why, in words; it stands in the receipt and in the history. */
  readonly reason?: string | undefined;
  /** Refuse what is enqueued later, until the owner is reopened. Default true; of a single job it means nothing. */
  readonly close?: boolean | undefined;
  /** The same id again gets the same receipt and ends nothing more. Default a new one. */
  readonly cancelId?: string | undefined;
  /** Answer when nothing of it runs any more, or after `waitFor`; default 30 s, at most 2 min. */
  readonly wait?: 'drained' | undefined;
  readonly waitFor?: Duration | undefined;
  /** Who asks for it: a key's name, an event's source. */
  readonly by?: string | undefined;
  /** When that happened which this is about, in ms: an owner that was reopened since stays as it is. */
  readonly occurredAtMs?: number | undefined;
}

/** What is to end: all of an owner, or one job of it. */
export interface Target {
  readonly cancelId: string;
  readonly owner: string;
  readonly job?: string;
}

/** A cancel that makes sense. */
export interface Order extends Target {
  /** The jobs below the one in its flow: those of its owner are over with it. */
  readonly below?: readonly string[];
  /** An owner that has changed since is not cancelled. */
  readonly seen?: { readonly epoch: string; readonly counter: string };
  readonly why: 'cancelled' | 'orphan';
  /** How long its answer waits for what can be removed at once. */
  readonly patienceMs: number;
  readonly reason: string;
  readonly by: string;
  readonly close: boolean;
  readonly occurredAtMs: number | undefined;
  readonly waitMs: number;
}

/** Reads what a caller asks for; throws when it makes no sense. */
export function readOrder(owner: string, job: string | undefined, options: CancelOptions): Order {
  const { reason = 'no reason given', by = 'unknown', cancelId = randomUUID(), close = true } = options;
  checkText(reason, 'reason');
  checkText(by, 'by');
  if (typeof cancelId !== 'string' || cancelId === '' || Buffer.byteLength(cancelId) > MAX_ID_BYTES)
    throw new InvalidJobError(`cancelId is a string of 1 to ${MAX_ID_BYTES} bytes.`);
  if (typeof close !== 'boolean') throw new InvalidJobError('close is true or false.');
  const { occurredAtMs } = options;
  if (occurredAtMs !== undefined && !Number.isSafeInteger(occurredAtMs))
    throw new InvalidJobError('occurredAtMs is a time in whole ms.');
  return {
    cancelId,
    owner,
    why: 'cancelled',
    patienceMs: CLEAN_UP_MS,
    ...(job !== undefined && { job }),
    reason,
    by,
    close: close && job === undefined,
    occurredAtMs,
    waitMs: readWait(options),
  };
}

function checkText(text: unknown, what: string): void {
  if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_TEXT)
    throw new InvalidJobError(`${what} is a text of 1 to ${MAX_TEXT} characters.`);
}

function readWait({ wait, waitFor }: CancelOptions): number {
  if (wait === undefined) {
    if (waitFor !== undefined) throw new InvalidJobError('waitFor goes with wait: "drained".');
    return 0;
  }
  if (wait !== 'drained') throw new InvalidJobError('wait is "drained", or left out.');
  let ms: number;
  try {
    ms = waitFor === undefined ? DEFAULT_WAIT_MS : durationMs(waitFor, 'waitFor');
  } catch (error) {
    throw new InvalidJobError((error as Error).message, { cause: error });
  }
  if (ms > MAX_WAIT_MS) throw new InvalidJobError('waitFor is at most 2m.');
  return ms;
}
