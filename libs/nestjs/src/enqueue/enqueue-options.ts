import { InvalidJobError, SlotLimitError, type OwnedJobOptions, type Owner, type Slot } from '#core';
import { durationMs } from '#core/parts';
import type { JobsOptions } from 'bullmq';
import type { Duration } from '../kinds/backoff.js';
import type { JobOrigin } from './job-origin.js';
import { STRATEGIES, type DedupOptions, type Kind } from '../kinds/kind.js';
import { LOWEST_PRIORITY, MIDDLE_PRIORITY, priorityInQueue } from '../kinds/priority.js';

const CALLERS = /^callers\//;
const MAX_AHEAD_MS = 365 * 86_400_000;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What a caller may say of one job. */
export interface EnqueueOptions {
  /** One to four owners; the first is the primary. Default those that the kind names. */
  readonly owners?: readonly (Owner | string)[] | undefined;
  readonly delay?: Duration | undefined;
  /** The job starts within this time or not at all. */
  readonly expiresIn?: Duration | undefined;
  /** Among the jobs of its kind's class: 1 is the most urgent, 200 the least. Default 100. */
  readonly priority?: number | undefined;
  readonly dedup?: DedupOptions | undefined;
  readonly slot?: Slot | undefined;
  /** Choose it to make the call repeatable: the same id again adds no second job. */
  readonly jobId?: string | undefined;
  /** The same key again, within a day, gets the same answer and makes no second job. */
  readonly idempotencyKey?: string | undefined;
  /** When it was asked for, ms by the store's clock, if it is enqueued later; as in the core. */
  readonly askedAt?: number | undefined;
  /** Who asks: the log lines of its runs say it. */
  readonly origin?: JobOrigin | undefined;
}

/** The options of BullMQ's job, and the owners' ones, for a job of this kind. */
export function jobOptionsOf(
  kind: Kind,
  payload: never,
  given: EnqueueOptions,
): JobsOptions & OwnedJobOptions {
  const delay = readAhead(given.delay ?? 0, 'delay');
  const expiresIn =
    given.expiresIn === undefined ? kind.expiresInMs : readAhead(given.expiresIn, 'expiresIn');
  const dedup = readDedup(kind, given.dedup ?? kind.dedup);
  const slot = given.slot ?? kind.slot?.(payload);
  const { idempotencyKey, askedAt, origin } = given;
  const isJoined = dedup?.strategy === 'skip' || dedup?.strategy === 'coalesce';
  if (!isJoined && expiresIn !== undefined && delay > expiresIn) refuseToExpire(kind, delay, expiresIn);
  const owners = given.owners ?? kind.owners?.(payload) ?? [];
  // Field by field: this is done for every job.
  const options: Mutable<JobsOptions & OwnedJobOptions> = {
    owners,
    priority: readPriority(kind, given.priority),
  };
  if (delay > 0) options.delay = delay;
  if (expiresIn !== undefined) options.expiresIn = expiresIn;
  if (dedup) options.dedup = dedup;
  if (slot) options.slot = slot;
  if (kind.fair !== undefined) options.fair = kind.fair;
  if (idempotencyKey !== undefined)
    options.idempotency = { key: idempotencyKey, request: requestText(kind, payload, given) };
  if (askedAt !== undefined) options.askedAt = askedAt;
  if (origin) options.origin = origin;
  if (kind.attempts > 1) {
    options.attempts = kind.attempts;
    if (kind.backoff) options.backoff = kind.backoff;
  }
  return options;
}

/** The key of a slot that a caller from outside names. They share no key with the application. */
export function slotKeyOfCallers(key: string): string {
  return `callers/${key}`;
}

/** The store knows the limit of a slot that has another one, and its caller the key. */
export function nameSlot(error: unknown, slot: OwnedJobOptions['slot']): never {
  if (!(error instanceof SlotLimitError) || !slot) throw error;
  throw new SlotLimitError(error.limit, slot.key.replace(CALLERS, ''), error.rate);
}

/** What is the same in all requests of an idempotency key: not who asks, or when. */
function requestText(kind: Kind, payload: unknown, options: EnqueueOptions): string {
  return JSON.stringify([kind.name, payload, { ...options, origin: undefined, askedAt: undefined }]);
}

function readPriority(kind: Kind, priority = MIDDLE_PRIORITY): number {
  if (Number.isInteger(priority) && priority >= 1 && priority <= LOWEST_PRIORITY)
    return priorityInQueue(kind.class, priority);
  throw new InvalidJobError(`priority is a whole number from 1 (most urgent) to ${LOWEST_PRIORITY}.`);
}

/** Jobs of different kinds never stand for one another: the kind is part of the key. */
function readDedup(
  kind: Kind,
  { strategy, key = '', longestWait = kind.dedup.longestWait }: DedupOptions,
): OwnedJobOptions['dedup'] | undefined {
  if (!STRATEGIES.includes(strategy))
    throw new InvalidJobError(`dedup.strategy is one of ${STRATEGIES.join(', ')}.`);
  if (strategy === 'none') return undefined;
  return { strategy, key: `${kind.name}/${key}`, ...(longestWait !== undefined && { longestWait }) };
}

/** With `skip` and `coalesce` the job may join a pending one that starts earlier. */
function refuseToExpire(kind: Kind, delay: number, expiresIn: number): never {
  throw new InvalidJobError(
    `delay (${delay} ms) is longer than expiresIn (${expiresIn} ms) of ${kind.name}: ` +
      'the job could only expire. Give it a longer expiresIn.',
  );
}

function readAhead(duration: Duration, what: string): number {
  const ms = durationMs(what, duration);
  if (ms > MAX_AHEAD_MS) throw new InvalidJobError(`${what} is at most 365d.`);
  return ms;
}
