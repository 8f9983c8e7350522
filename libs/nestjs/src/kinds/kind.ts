import type { FairTurns, Owner, Slot } from '#core';
import { checkTurns, durationMs } from '#core/parts';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readBackoff, type Backoff, type Duration, type StoredBackoff } from './backoff.js';
import type { PayloadSchema, SchemaInput, SchemaOutput } from './payload-schema.js';
import { URGENCIES, type Urgency } from './priority.js';
import { KindProblems } from './kind-problems.js';

/** What `defineKind` is given: a name, a queue and the schema of the payload. The rest has defaults. */
export interface KindOptions<S extends PayloadSchema> {
  /** The name of its jobs in BullMQ. */
  readonly name: string;
  /** The queue its jobs wait in. Several kinds may share one. */
  readonly queue: string;
  readonly payload: S;
  /** The owners of a job whose caller names none. */
  readonly owners?: (payload: SchemaOutput<S>) => readonly (Owner | string)[];
  /** All `urgent` jobs of a queue run before its `normal` ones, and these before `background`. Default `normal`. */
  readonly class?: Urgency;
  /** How often a job is tried before it counts as failed. Default 1. */
  readonly attempts?: number;
  /** How long after a failed attempt the next one starts. A list has one step an attempt. Default at once. */
  readonly backoff?: Backoff | readonly Duration[];
  /** A run that takes longer is told to stop, and its attempt has failed. Default 1 h. */
  readonly timeout?: Duration;
  /** How long a run may take to stop. Then it is abandoned. Default 5 s. */
  readonly grace?: Duration;
  /** A job starts within this time of its enqueue or not at all. Default for ever. */
  readonly expiresIn?: Duration;
  /** What happens while a job of the same owners, kind and key is pending. Default `none`. */
  readonly dedup?: DedupOptions;
  /** At most `limit` jobs of a key run at a time. */
  readonly slot?: (payload: SchemaOutput<S>) => Slot | undefined;
  /** The owners of its jobs take turns, so that one with many jobs does not hold up the others. Default as its queue says, or false. */
  readonly fair?: boolean | FairTurns;
  /** How many bytes its payload may have as JSON. Default 256 KiB. */
  readonly maxPayloadBytes?: number;
  /** How long, and how many, finished jobs are kept; of failed ones, if that differs. Default as `forRoot` says, else 24 h and 1,000. */
  readonly keep?: KeepOptions & { readonly failed?: KeepOptions };
  /** Whether a class with @Keeps is asked before a sweep removes a completed job. BullMQ removes none of its queue then. Default false. */
  readonly keepWanted?: boolean;
  /** Whether runs may leave artifacts. Jobs of its queue are then removed by a sweep, behind their artifacts. Default false. */
  readonly artifacts?: boolean;
  /** Whether callers from outside may enqueue its jobs by name. Default true. */
  readonly offered?: boolean;
  /** Fields of the payload that are never shown, as in `card` or `payment.card`. In lists each element is meant. Default none. */
  readonly hides?: readonly string[];
  /**
   * The file that does the work, in a process of its own, which is killed if it does not stop: its `default` or `handle` is called.
   * `new URL('./render.sandbox.js', import.meta.url)`. Default: the class with @Handles.
   */
  readonly sandbox?: URL | string;
  /** Ask the resolvers of its owners when a job starts, and what to do if they do not know. Default: do not ask. */
  readonly checkOwner?: 'start';
  readonly onUnknownOwner?: 'run' | 'wait';
}

export const STRATEGIES = ['none', 'skip', 'replace', 'coalesce'] as const;

/** `skip` keeps the pending job, `replace` puts the new one in its place, `coalesce` gives the pending one the new payload and delay. */
export interface DedupOptions {
  readonly strategy: (typeof STRATEGIES)[number];
  readonly key?: string | undefined;
  /** A coalesced job starts this long after its first trigger at the latest. Default that of the kind, if it has one. */
  readonly longestWait?: Duration | undefined;
}

export interface KeepOptions {
  readonly age?: Duration;
  readonly count?: number;
}

/** How many finished jobs of a kind are kept, as BullMQ takes it: seconds and a number. */
export interface Kept {
  readonly age: number;
  readonly count: number;
}

/** A kind of job, made by `defineKind`. */
export interface Kind<S extends PayloadSchema = PayloadSchema> {
  readonly name: string;
  readonly queue: string;
  readonly payload: S;
  readonly owners: ((payload: never) => readonly (Owner | string)[]) | undefined;
  readonly class: Urgency;
  readonly attempts: number;
  readonly backoff: StoredBackoff | undefined;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly expiresInMs: number | undefined;
  readonly dedup: DedupOptions;
  readonly slot: ((payload: never) => Slot | undefined) | undefined;
  readonly fair: boolean | FairTurns | undefined;
  readonly maxPayloadBytes: number;
  /** What the kind itself says of it; `JobRetention` knows the rest. */
  readonly keep: { readonly completed: Partial<Kept>; readonly failed: Partial<Kept> };
  readonly keepWanted: boolean;
  readonly artifacts: boolean;
  readonly offered: boolean;
  readonly hides: readonly string[];
  /** The path of its file. */
  readonly sandbox: string | undefined;
  readonly checkOwner: 'start' | undefined;
  readonly onUnknownOwner: 'run' | 'wait';
}

/** What a caller gives as payload, before the schema has filled in its defaults. */
export type PayloadIn<K extends Kind> = SchemaInput<K['payload']>;
/** What a handler gets. */
export type Payload<K extends Kind> = SchemaOutput<K['payload']>;

const MOST_ATTEMPTS = 1_000;
const MAX_PAYLOAD_BYTES = 256 * 1024;

/** Defines a kind of job. All problems are reported at once. */
export function defineKind<S extends PayloadSchema>(options: KindOptions<S>): Kind<S> {
  const { attempts = 1, dedup = { strategy: 'none' }, keep = {} } = options;
  const problems = new KindProblems(options.name);
  const ms = (value: Duration, what: string): number => problems.try(() => durationMs(what, value)) ?? 0;
  problems.checkText('name', options.name);
  problems.checkText('queue', options.queue);
  problems.check(
    typeof options.payload?.['~standard']?.validate === 'function',
    'payload is a schema, such as one of zod',
  );
  problems.checkWord('class', options.class ?? 'normal', URGENCIES);
  problems.checkWord('dedup.strategy', dedup.strategy, STRATEGIES);
  problems.checkWhole('attempts', attempts, MOST_ATTEMPTS);
  if (dedup.longestWait !== undefined) ms(dedup.longestWait, 'dedup.longestWait');
  problems.try(() => checkTurns(options.fair));
  const kind: Kind<S> = {
    name: options.name,
    queue: options.queue,
    payload: options.payload,
    owners: options.owners,
    class: options.class ?? 'normal',
    attempts,
    backoff: options.backoff && readBackoff(options.backoff, ms, problems),
    timeoutMs: ms(options.timeout ?? '1h', 'timeout'),
    graceMs: ms(options.grace ?? '5s', 'grace'),
    expiresInMs: options.expiresIn === undefined ? undefined : ms(options.expiresIn, 'expiresIn'),
    dedup,
    slot: options.slot,
    fair: options.fair,
    maxPayloadBytes: options.maxPayloadBytes ?? MAX_PAYLOAD_BYTES,
    keep: {
      completed: readKeep(keep, 'keep', ms, problems),
      failed: readKeep(keep.failed ?? {}, 'keep.failed', ms, problems),
    },
    keepWanted: options.keepWanted ?? false,
    artifacts: options.artifacts ?? false,
    offered: options.offered ?? true,
    hides: readHides(options.hides ?? [], problems),
    sandbox: options.sandbox === undefined ? undefined : readFile(options.sandbox, problems),
    checkOwner: options.checkOwner,
    onUnknownOwner: options.onUnknownOwner ?? 'run',
  };
  problems.throwAny();
  return Object.freeze(kind);
}

function readKeep(
  { age, count }: KeepOptions,
  what: string,
  ms: (value: Duration, what: string) => number,
  problems: KindProblems,
): Partial<Kept> {
  if (count !== undefined) problems.checkWhole(`${what}.count`, count, Number.MAX_SAFE_INTEGER);
  return {
    ...(age !== undefined && { age: Math.ceil(ms(age, `${what}.age`) / 1_000) }),
    ...(count !== undefined && { count }),
  };
}

function readHides(fields: readonly string[], problems: KindProblems): readonly string[] {
  fields.forEach((field, i) => problems.checkText(`hides[${i}]`, field));
  return [...fields];
}

function readFile(file: URL | string, problems: KindProblems): string | undefined {
  const text = String(file);
  if (isAbsolute(text)) return text;
  const otherwise = `sandbox is a file: URL or an absolute path, as in new URL('./render.sandbox.js', import.meta.url); got "${text}"`;
  problems.check(text.startsWith('file:'), otherwise);
  return text.startsWith('file:') ? problems.try(() => fileURLToPath(text)) : undefined;
}
