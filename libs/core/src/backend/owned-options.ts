import { createHash } from 'node:crypto';
import { QueueKeys, type JobsOptions } from 'bullmq';
import { durationMs } from '../model/duration.js';
import { InvalidJobError } from '../model/errors.js';
import type { Dedup, Idempotency, Slot } from '../model/job-options.js';
import { formatOwner, LONE_SURROGATE, parseOwner, type Owner } from '../model/owner.js';
import { escapeText } from '../scripts/escape.js';

const MOST_OWNERS = 4;
const MOST_KEY_BYTES = 512;
const MOST_SLOTS = 10_000;
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
  /** <deduplication key>|<limit>|<slot>; '' if it has neither. */
  readonly needs: string;
  readonly lifeMs: number | '';
  readonly strategy: Dedup['strategy'] | '';
  readonly longestWaitMs: number | '';
  /** <digest of its idempotency key>|<digest of the request>; '' without a key. */
  readonly once: string;
  /** BullMQ's own options. */
  readonly rest: JobsOptions;
}

/** Nothing for a job without owners, which is BullMQ's alone. */
export function readOwnedOptions(given: JobsOptions): OwnedOptions | undefined {
  const { owners, dedup, expiresIn, slot, idempotency, mooring: _, ...rest } = given;
  if (owners === undefined) {
    if (dedup || slot || idempotency || expiresIn !== undefined)
      throw new InvalidJobError('dedup, slot, idempotency and expiresIn need owners.');
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
    once: idempotency ? onceOf(idempotency) : '',
    rest: rest.lifo || rest.priority ? rest : { ...rest, priority: DEFAULT_PRIORITY },
  };
}

/** All of a flow is added or nothing, so none of its jobs may join one that is pending. */
export function readFlowOptions(given: JobsOptions): OwnedOptions | undefined {
  const owned = readOwnedOptions(given);
  if (owned?.strategy || owned?.once)
    throw new InvalidJobError('A job of a flow has no `dedup` and no `idempotency`.');
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

function onceOf({ key, request }: Idempotency): string {
  if (typeof key !== 'string' || key === '' || Buffer.byteLength(key) > MOST_KEY_BYTES)
    throw new InvalidJobError(`The key of idempotency is a text of 1 to ${MOST_KEY_BYTES} bytes.`);
  return `${digest(key)}|${digest(request)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function needOf({ key, limit }: Slot): string {
  return `${slotLimit(limit)}|${slotName(key)}`;
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
