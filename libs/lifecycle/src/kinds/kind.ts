import { durationMs, type Duration } from '#durations';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import type { Owner } from './owner.js';
import { CLASSES, type KindClass } from './priority.js';
import type { Measure, SaidKeep } from './keep.js';

const KIND_NAME = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$/;
const QUEUE_NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** What `defineKind` is given: the name, the queue and the payload's schema; the rest has defaults. */
export interface KindOptions<S extends z.ZodType> {
  /** Words joined by dots, as in `media.thumbnail`. */
  readonly name: string;
  /** The BullMQ queue its jobs wait in: kebab-case. Several kinds may share one. */
  readonly queue: string;
  readonly payload: S;
  /**
   * Which other kinds of its queue its jobs go before, whatever priority their callers ask for: those of an `urgent` one before
   * all `normal` ones, and these before all of `background`. Default `normal`.
   */
  readonly class?: KindClass;
  /** How often a job is tried before it counts as failed. Default 1. */
  readonly attempts?: number;
  /** How long after a failed attempt the next one starts: a step, or one for each attempt. Default at once. */
  readonly backoff?: Backoff | readonly Duration[];
  /** How long a run may take before its signal aborts. Default 1 h. */
  readonly timeout?: Duration;
  /** How long a run that was told to stop may take before it is abandoned. Default 5 s. */
  readonly grace?: Duration;
  /** How long after it was accepted, or last triggered, a job may still start, on any attempt. Default for ever. */
  readonly expiresIn?: Duration;
  /** What happens to a job whose twin is pending. Default `none`. */
  readonly dedup?: DedupOptions;
  /** Leave to run, from the payload: at most `limit` jobs of one key run at once, over the whole fleet. */
  readonly slot?: (payload: z.output<S>) => SlotOptions | undefined;
  /** How many unfinished jobs one owner may have. Default without limit. */
  readonly maxPerOwner?: number;
  /** How many bytes its payload may have as JSON. Default what the fleet's jobs may have, else 256 KiB. */
  readonly maxPayloadBytes?: number;
  /**
   * The file whose `default` or `handle` does the work, in a process of its own for each run, which is killed when it does
   * not stop: `new URL('./render.sandbox.js', import.meta.url)`. Default: a class with @Handles does it, in the worker.
   */
  readonly sandbox?: URL | string;
  /** Ask the owner's resolver when a job starts, and what to do when it does not know. Default: do not ask. */
  readonly checkOwner?: 'start';
  readonly onUnknownOwner?: 'run' | 'wait';
  /**
   * Whose a job is that another program added to the queue under this kind's name, with its payload as data: it is
   * adopted then. Default: nobody's, and it ends failed when a worker comes to it.
   */
  readonly ownersOf?: OwnersOf;
  /**
   * How long, and how many, finished jobs are kept; of those that failed, if that is another measure. Default what the fleet's
   * is, else 24 h and 1000, of completed and of failed each.
   */
  readonly keep?: KeepOptions & { readonly failed?: KeepOptions };
  /**
   * Whether a class with @Keeps is asked before the janitor removes a completed job over that measure, which is the least then
   * that is kept. BullMQ removes none of its queue by itself. Default false.
   */
  readonly keepWanted?: boolean;
  /**
   * Whether callers of the api may ask for its jobs by name. Say false where a job is a step of something that has calls of its
   * own, and who asks for it alone could harm what is somebody else's. Default true.
   */
  readonly offered?: boolean;
  /**
   * Whether its jobs may leave artifacts. Where no kind of a queue does, and each says so, BullMQ itself removes a job as soon
   * as it is not to be kept any more. Default true.
   */
  readonly artifacts?: boolean;
}

/** From what another program gave a job of its own. */
export type OwnersOf = (job: {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
}) => readonly Owner[] | undefined;

export interface KeepOptions {
  readonly age?: Duration;
  readonly count?: number;
}

export interface Backoff {
  readonly type: 'fixed' | 'exponential';
  readonly delay: Duration;
  /** The longest an exponential one grows. Default 1 h. */
  readonly max?: Duration;
  /** How much of the delay is left to chance, 0 to 1. Default 0 for fixed, 0.2 for exponential. */
  readonly jitter?: number;
}

export const STRATEGIES = ['none', 'skip', 'replace', 'coalesce'] as const;

/**
 * What becomes of a job whose twin (same owners, kind and key) has not begun yet. `skip`: there is no new job. `replace`:
 * the new one takes its place. `coalesce`: there is no new job, and the pending one gets the new payload and time.
 * A twin that is running never counts: what happened after its start is not lost. A twin that may only start for so long
 * has that time anew with each trigger that is left to it: its own, whatever the trigger asks for.
 */
export interface DedupOptions {
  readonly strategy: (typeof STRATEGIES)[number];
  readonly key?: string | undefined;
}

export interface SlotOptions {
  readonly key: string;
  readonly limit: number;
  /** Whose key it is. `callers`: one that a caller named; its limit is the key's (`SlotLimits`). Default: one of the application's own. */
  readonly space?: 'callers';
}

/** A sort of job. Made by `defineKind`; its durations are in ms. */
export interface Kind<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly queue: string;
  readonly payload: S;
  readonly class: KindClass;
  readonly attempts: number;
  /** How long after the n-th failed attempt the next one starts. */
  readonly backoffMs: (attempt: number) => number;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly expiresInMs: number | undefined;
  readonly dedup: DedupOptions;
  readonly slot: ((payload: never) => SlotOptions | undefined) | undefined;
  readonly maxPerOwner: number | undefined;
  readonly maxPayloadBytes: number | undefined;
  /** The absolute path of its file. */
  readonly sandbox: string | undefined;
  readonly checkOwner: 'start' | undefined;
  readonly onUnknownOwner: 'run' | 'wait';
  readonly ownersOf: OwnersOf | undefined;
  readonly keep: SaidKeep;
  readonly keepWanted: boolean;
  readonly offered: boolean;
  readonly artifacts: boolean;
}

/** What a caller gives as payload, before the schema's defaults are filled in. */
export type PayloadIn<K extends Kind> = z.input<K['payload']>;
/** What a handler gets as payload. */
export type Payload<K extends Kind> = z.output<K['payload']>;

/** Defines a sort of job. Mistakes are said at once, all in one error. */
export function defineKind<S extends z.ZodType>(options: KindOptions<S>): Kind<S> {
  const problems: string[] = [];
  const ms = (value: Duration, what: string): number => {
    try {
      return durationMs(value, what);
    } catch (error) {
      problems.push((error as Error).message);
      return 0;
    }
  };
  const check = (isRight: boolean, otherwise: string): void => {
    if (!isRight) problems.push(otherwise);
  };

  const {
    name,
    queue,
    payload,
    class: ofKind = 'normal',
    attempts = 1,
    dedup = { strategy: 'none' },
    maxPerOwner,
    maxPayloadBytes,
    keep = {},
  } = options;
  check(
    KIND_NAME.test(name) && name.length <= 64,
    `name must be lower-case words joined by dots (at most 64 characters); got "${name}".`,
  );
  check(
    QUEUE_NAME.test(queue) && queue.length <= 64,
    `queue must be kebab-case (at most 64 characters); got "${queue}".`,
  );
  check(typeof payload?.safeParse === 'function', 'payload must be a zod schema.');
  check(CLASSES.includes(ofKind), `class must be one of ${CLASSES.join(', ')}; got "${ofKind}".`);
  check(isWhole(attempts) && attempts <= 1000, `attempts must be 1 to 1000; got ${attempts}.`);
  check(
    STRATEGIES.includes(dedup.strategy),
    `dedup.strategy must be one of ${STRATEGIES.join(', ')}; got "${dedup.strategy}".`,
  );
  check(
    maxPerOwner === undefined || isWhole(maxPerOwner),
    `maxPerOwner must be at least 1; got ${maxPerOwner}.`,
  );
  const kind: Kind<S> = {
    name,
    queue,
    payload,
    class: ofKind,
    attempts,
    backoffMs: readBackoff(options.backoff, ms, check),
    timeoutMs: ms(options.timeout ?? '1h', 'timeout'),
    graceMs: ms(options.grace ?? '5s', 'grace'),
    expiresInMs: options.expiresIn === undefined ? undefined : ms(options.expiresIn, 'expiresIn'),
    dedup,
    slot: options.slot,
    maxPerOwner,
    maxPayloadBytes,
    sandbox: readSandbox(options.sandbox, check),
    checkOwner: options.checkOwner,
    onUnknownOwner: options.onUnknownOwner ?? 'run',
    ownersOf: options.ownersOf,
    keep: {
      ...readKeep(keep, 'keep', ms, check),
      failed: readKeep(keep.failed ?? {}, 'keep.failed', ms, check),
    },
    keepWanted: options.keepWanted ?? false,
    offered: options.offered ?? true,
    artifacts: options.artifacts ?? true,
  };

  if (problems.length > 0) {
    throw new TypeError(`Kind "${name}" has ${problems.length} problem(s):\n  ${problems.join('\n  ')}`);
  }
  return Object.freeze(kind);
}

function isWhole(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

function readKeep(
  { age, count }: KeepOptions,
  what: string,
  ms: (value: Duration, what: string) => number,
  check: (isRight: boolean, otherwise: string) => void,
): Partial<Measure> {
  check(count === undefined || isWhole(count), `${what}.count must be at least 1; got ${count}.`);
  return {
    ...(age !== undefined && { ageMs: ms(age, `${what}.age`) }),
    ...(count !== undefined && { count }),
  };
}

function readSandbox(
  file: URL | string | undefined,
  check: (isRight: boolean, otherwise: string) => void,
): string | undefined {
  if (file === undefined) return undefined;
  const text = String(file);
  if (isAbsolute(text)) return text;
  try {
    return fileURLToPath(text);
  } catch {
    check(
      false,
      `sandbox must be a file: URL or an absolute path, as in new URL('./render.sandbox.js', import.meta.url); got "${text}".`,
    );
    return undefined;
  }
}

function readBackoff(
  backoff: Backoff | readonly Duration[] | undefined,
  ms: (value: Duration, what: string) => number,
  check: (isRight: boolean, otherwise: string) => void,
): (attempt: number) => number {
  if (!backoff) return () => 0;
  if (Array.isArray(backoff)) {
    const steps = (backoff as readonly Duration[]).map((step, i) => ms(step, `backoff[${i}]`));
    check(steps.length > 0, 'backoff needs at least one step.');
    return (attempt) => steps[Math.min(attempt, steps.length) - 1] ?? 0;
  }
  const { type, delay, max = '1h', jitter = type === 'exponential' ? 0.2 : 0 } = backoff as Backoff;
  check(
    type === 'fixed' || type === 'exponential',
    `backoff.type must be fixed or exponential; got "${type}".`,
  );
  check(jitter >= 0 && jitter <= 1, `backoff.jitter must be 0 to 1; got ${jitter}.`);
  const [first, longest] = [ms(delay, 'backoff.delay'), ms(max, 'backoff.max')];
  return (attempt) => {
    const whole = type === 'fixed' ? first : Math.min(longest, first * 2 ** (attempt - 1));
    return Math.round(whole * (1 - jitter * Math.random()));
  };
}
