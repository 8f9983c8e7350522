import { createHash } from 'node:crypto';
import { QueueKeys, type JobsOptions } from 'bullmq';
import { durationMs } from '../model/duration.js';
import { InvalidJobError } from '../model/errors.js';
import { turnOf, type Turn } from '../model/fair-turns.js';
import type { Dedup, Idempotency, Rate, Slot } from '../model/job-options.js';
import { formatOwner, LONE_SURROGATE, parseOwner, type Owner } from '../model/owner.js';
import { escapeText, unescapeText } from '../scripts/escape.js';

const MOST_OWNERS = 4;
const MOST_KEY_BYTES = 512;
const MOST_SLOTS = 10_000;
const MOST_OF_A_RATE = 1_000_000;
const LONGEST_RATE_MS = 86_400_000;
const CONTROL_CHARACTER = /\p{Cc}/u;
const STRATEGIES: readonly string[] = ['skip', 'replace', 'coalesce'];
/** A job with such an id would have the key of something else that the queue has. */
const RESERVED_IDS: ReadonlySet<string> = new Set(Object.keys(new QueueKeys().getKeys('any')));
/** Jobs of owners wait in a sorted set of BullMQ's, from which one job is removed at no cost to the others. */
const DEFAULT_PRIORITY = 1;

/** What the options of a job say beside BullMQ's own, as the scripts take it. */
export interface OwnedOptions {
  /** The owners as they stand in keys, joined by |. */
  readonly names: string;
  /** <deduplication key>|<limit>|<slot>, with its rate behind the slot; '' if it has neither. */
  readonly needs: string;
  readonly lifeMs: number | '';
  readonly strategy: Dedup['strategy'] | '';
  readonly longestWaitMs: number | '';
  /** <digest of its idempotency key>|<digest of the request>|<when it was asked for, ms>; '' without a key and a time. */
  readonly once: string;
  readonly askedAt: number | undefined;
  /** BullMQ's own options. */
  readonly rest: JobsOptions;
}

/** Nothing for a job without owners, which is BullMQ's alone. */
export function readOwnedOptions(given: JobsOptions): OwnedOptions | undefined {
  const { owners, dedup, expiresIn, slot, idempotency, fair, askedAt, mooring: _, ...rest } = given;
  if (owners === undefined) {
    if (dedup || slot || idempotency || expiresIn !== undefined || askedAt !== undefined)
      throw new InvalidJobError('dedup, slot, idempotency, expiresIn and askedAt need owners.');
    if (fair) throw new InvalidJobError('fair needs owners.');
    return undefined;
  }
  if (rest.deduplication)
    throw new InvalidJobError("A job of owners has `dedup` instead of BullMQ's `deduplication`.");
  if (rest.jobId && RESERVED_IDS.has(rest.jobId)) {
    throw new InvalidJobError(`"${rest.jobId}" is a key of BullMQ's: choose another jobId.`);
  }
  const names = ownerNames(owners);
  return {
    names: names.join('|'),
    needs: dedup || slot ? `${dedup ? digestOf(dedup, names) : ''}|${slot ? needOf(slot) : '|'}` : '',
    lifeMs: expiresIn === undefined ? '' : durationMs('expiresIn', expiresIn),
    strategy: dedup?.strategy ?? '',
    longestWaitMs: dedup?.longestWait === undefined ? '' : durationMs('longestWait', dedup.longestWait),
    once: idempotency || askedAt !== undefined ? onceOf(idempotency, askedAt) : '',
    askedAt,
    rest: restOf(inTime(rest, dedup), fair && turnOf(fair, names.map(unescapeText))),
  };
}

/** The first trigger waits no longer than those that join it. */
function inTime(rest: JobsOptions, dedup: Dedup | undefined): JobsOptions {
  if (dedup?.longestWait === undefined || !rest.delay) return rest;
  return { ...rest, delay: Math.min(rest.delay, durationMs('longestWait', dedup.longestWait)) };
}

/** A turn is among the options that are stored: a job that waits again takes one again. */
function restOf(rest: JobsOptions, fair: Turn | undefined | false): JobsOptions {
  const placed = rest.lifo || rest.priority ? rest : { ...rest, priority: DEFAULT_PRIORITY };
  return fair ? { ...placed, fair } : placed;
}

/** All of a flow is added or nothing, so none of its jobs may join one that is pending. */
export function readFlowOptions(given: JobsOptions): OwnedOptions | undefined {
  const owned = readOwnedOptions(given);
  if (owned?.strategy || owned?.once)
    throw new InvalidJobError('A job of a flow has no `dedup`, no `idempotency` and no `askedAt`.');
  return owned;
}

export function requireOwners(given: JobsOptions): OwnedOptions {
  const owned = readOwnedOptions(given);
  if (!owned) throw new InvalidJobError('A job that is enqueued has owners; without them use `add`.');
  return owned;
}

export function ownerNames(owners: readonly (Owner | string)[]): string[] {
  if (!Array.isArray(owners) || owners.length < 1 || owners.length > MOST_OWNERS) {
    throw new InvalidJobError(`A job has 1 to ${MOST_OWNERS} owners.`);
  }
  const names = owners.map((each: Owner | string) => escapeText(formatOwner(parseOwner(each))));
  return names.length === 1 ? names : [...new Set(names)];
}

/** A key belongs to all owners of its job: jobs with other owners have other keys. */
function digestOf({ strategy, key }: Dedup, owners: readonly string[]): string {
  if (!STRATEGIES.includes(strategy)) {
    throw new InvalidJobError(`The strategy of dedup is one of ${STRATEGIES.join(', ')}; got "${strategy}".`);
  }
  checkKey('The key of dedup', key);
  // Owners as they stand in keys hold no control character, but the key may.
  return digest(`${owners.slice(1).toSorted().join('|')}\0${key}`);
}

function onceOf(idempotency: Idempotency | undefined, askedAt: number | undefined): string {
  return `${idempotency ? digestsOf(idempotency) : '|'}|${askedAt === undefined ? '' : timeOf(askedAt)}`;
}

/** A time in ms; it may have a fraction. */
export function timeOf(askedAt: number): number {
  if (Number.isFinite(askedAt) && askedAt > 0 && askedAt < Number.MAX_SAFE_INTEGER) return askedAt;
  throw new InvalidJobError('askedAt is a time in ms.');
}

function digestsOf({ key, request }: Idempotency): string {
  if (typeof key !== 'string' || key === '' || Buffer.byteLength(key) > MOST_KEY_BYTES)
    throw new InvalidJobError(`The key of idempotency is a text of 1 to ${MOST_KEY_BYTES} bytes.`);
  return `${digest(key)}|${digest(request)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function needOf({ key, limit, rate }: Slot): string {
  return `${slotLimit(limit)}|${slotName(key)}${rate ? ` ${slotRate(rate)}` : ''}`;
}

/** A rate as it stands in marks and beside the key of its slot: <max>/<per, ms>. */
export function slotRate({ max, per }: Rate): string {
  if (!Number.isInteger(max) || max < 1 || max > MOST_OF_A_RATE)
    throw new InvalidJobError(
      `The max of a rate is a whole number from 1 to ${MOST_OF_A_RATE}; got ${String(max)}.`,
    );
  const perMs = durationMs('The per of a rate', per);
  if (perMs < 1 || perMs > LONGEST_RATE_MS)
    throw new InvalidJobError(`The per of a rate is from 1ms to 1d; got ${JSON.stringify(per)}.`);
  return `${max}/${perMs}`;
}

/** The key of a slot as it stands in keys and marks. */
export function slotName(key: string): string {
  checkKey('The key of a slot', key);
  if (CONTROL_CHARACTER.test(key))
    throw new InvalidJobError('The key of a slot holds a control character, which would be hard to see.');
  return escapeText(key);
}

export function slotLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_SLOTS) return limit;
  throw new InvalidJobError(
    `The limit of a slot is a whole number from 1 to ${MOST_SLOTS}; got ${String(limit)}.`,
  );
}

function checkKey(what: string, key: unknown): void {
  const isText = typeof key === 'string' && key.length > 0 && Buffer.byteLength(key) <= MOST_KEY_BYTES;
  if (!isText || LONE_SURROGATE.test(key))
    throw new InvalidJobError(
      `${what} is a text of 1 to ${MOST_KEY_BYTES} bytes without halves of surrogate pairs.`,
    );
}
