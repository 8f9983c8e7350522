import { durationMs, formatDuration, type Duration } from '#durations';
import type { JobsOptions } from 'bullmq';
import { z } from 'zod';
import { InvalidJobError, TooLargeError } from '../errors.js';
import { digest } from '../keys.js';
import { checkKey } from '../kinds/check-key.js';
import { slotOfKey } from '../kinds/envelope.js';
import { STRATEGIES, type DedupOptions, type Kind, type SlotOptions } from '../kinds/kind.js';
import { LEAST_URGENT, MIDDLE_PRIORITY, priorityInQueue } from '../kinds/priority.js';
import { formatOwner, owner, type Owner } from '../kinds/owner.js';
import { checkSlot, nameOfSlot } from '../slots/slot-name.js';

const MAX_OWNERS = 4;
const MAX_AHEAD_MS = 365 * 86_400_000;

export interface EnqueueOptions {
  /** One to four owners; the first is the primary. */
  readonly owners: readonly Owner[];
  readonly delay?: Duration | undefined;
  /** How long after now it may still start; a trigger that is left to it begins that time anew. */
  readonly expiresIn?: Duration | undefined;
  /** Among the jobs of its kind's class: 1 is the most urgent, 200 the least; default 100. */
  readonly priority?: number | undefined;
  readonly dedup?: DedupOptions | undefined;
  readonly slot?: SlotOptions | undefined;
  /** The same key again, within a day, gets the same answer and makes no second job. */
  readonly idempotencyKey?: string | undefined;
}

/** A request that makes sense: everything about the job that is known before the store is asked. */
export interface JobRequest {
  readonly kind: Kind;
  readonly owners: readonly string[];
  readonly body: unknown;
  readonly strategy: '' | 'skip' | 'replace' | 'coalesce';
  /** Digest of its deduplication key; '' for none. */
  readonly dedup: string;
  readonly slot: readonly [string, number] | undefined;
  /** The slot of a caller's key, whose limit the job claims. */
  readonly claim: SlotOptions | undefined;
  readonly delayMs: number;
  readonly expiresInMs: number | undefined;
  readonly options: JobsOptions;
}

/** Reads what a caller asks for; throws when it makes no sense. A caller sets nothing but what is named here. */
export function readRequest(
  kind: Kind,
  payload: unknown,
  options: EnqueueOptions,
  maxBytes: number,
): JobRequest {
  const parsed = readPayload(kind, payload, maxBytes);
  const { strategy, key } = readDedup(options.dedup ?? kind.dedup);
  const { priority = MIDDLE_PRIORITY } = options;
  if (!Number.isInteger(priority) || priority < 1 || priority > LEAST_URGENT) {
    throw new InvalidJobError(`priority is a whole number from 1 (most urgent) to ${LEAST_URGENT}.`);
  }
  const delayMs = readAhead(options.delay ?? 0, 'delay');
  const expiresInMs = options.expiresIn === undefined ? undefined : readAhead(options.expiresIn, 'expiresIn');
  const owners = readOwners(options.owners);
  const dedup = strategy === 'none' ? '' : digestOf(kind, key, owners);
  return {
    kind,
    owners,
    body: payload,
    strategy: strategy === 'none' ? '' : strategy,
    dedup,
    slot:
      readSlot(options.slot ?? kind.slot?.(parsed as never)) ??
      (dedup ? [slotOfKey(owners[0]!, dedup), 1] : undefined),
    claim: options.slot?.space === 'callers' ? options.slot : undefined,
    delayMs,
    expiresInMs: expiresInMs ?? kind.expiresInMs,
    options: {
      // A priority always: it makes the job wait in a sorted set, from which removing one costs O(log n).
      priority: priorityInQueue(kind.class, priority),
      ...(delayMs > 0 && { delay: delayMs }),
      ...(kind.attempts > 1 && { attempts: kind.attempts, backoff: { type: 'kind' } }),
    },
  };
}

/**
 * Refuses a delay after which the job could only expire. With skip and coalesce a later trigger may join the pending job, and
 * its time begins again: it may still start. A job that was accepted before is not asked.
 */
export function refuseToExpire(
  { kind, strategy, delayMs, expiresInMs }: JobRequest,
  options: EnqueueOptions,
): void {
  if (strategy === 'skip' || strategy === 'coalesce') return;
  if (expiresInMs === undefined || delayMs <= expiresInMs) return;
  const source = options.expiresIn === undefined ? `the expiresIn of the kind ${kind.name}` : 'expiresIn';
  throw new InvalidJobError(
    `delay (${formatDuration(delayMs)}) is longer than ${source} (${formatDuration(expiresInMs)}): ` +
      'the job could only expire. Give it a longer expiresIn.',
  );
}

/**
 * Checks a payload as its run will get it, which is what JSON makes of it. It is kept as the caller gave it: the schema's
 * own changes are made again when the job runs.
 */
function readPayload(kind: Kind, payload: unknown, maxBytes: number): unknown {
  const text = write(payload);
  const bytes = Buffer.byteLength(text ?? '');
  const most = kind.maxPayloadBytes ?? maxBytes;
  if (bytes > most) throw new TooLargeError(bytes, most);
  const read = kind.payload.safeParse(text === undefined ? undefined : JSON.parse(text));
  if (!read.success) {
    throw new InvalidJobError(`The payload of ${kind.name} is wrong:\n${z.prettifyError(read.error)}`);
  }
  return read.data;
}

/** Nothing at all when JSON has no word for it. */
function write(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch (error) {
    throw new InvalidJobError(`The payload cannot be written as JSON: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function readOwners(owners: readonly Owner[]): string[] {
  if (!Array.isArray(owners) || owners.length < 1 || owners.length > MAX_OWNERS) {
    throw new InvalidJobError(`A job has one to ${MAX_OWNERS} owners, as in ["trip:42"].`);
  }
  // Checked again: an owner may have been put together by hand.
  const texts = owners.map((one) => formatOwner(owner(one?.type, one?.id)));
  return [...new Set(texts)];
}

function readDedup({ strategy, key }: DedupOptions): DedupOptions {
  if (!STRATEGIES.includes(strategy))
    throw new InvalidJobError(`dedup.strategy is one of ${STRATEGIES.join(', ')}.`);
  if (key !== undefined) checkKey(key, 'dedup.key');
  return { strategy, ...(key !== undefined && { key }) };
}

function readSlot(slot: SlotOptions | undefined): readonly [string, number] | undefined {
  if (!slot) return undefined;
  checkSlot(slot);
  return [nameOfSlot(slot), slot.limit];
}

/**
 * A key belongs to the owners of its job, of whom the primary holds it: jobs of other owners never stand for one another, so
 * that a cancel of one takes no trigger of the others with it. No kind's name begins as the text of several owners does.
 */
function digestOf({ name }: Kind, key = '', [, ...further]: readonly string[]): string {
  const own = `${name}\0${key}`;
  return digest(further.length === 0 ? own : `\0${JSON.stringify(further.toSorted())}\0${own}`);
}

function readAhead(duration: Duration, what: string): number {
  let ms: number;
  try {
    ms = durationMs(duration, what);
  } catch (error) {
    throw new InvalidJobError((error as Error).message, { cause: error });
  }
  if (ms > MAX_AHEAD_MS) throw new InvalidJobError(`${what} is at most 365d.`);
  return ms;
}
