import { durationMs, type Duration } from '#durations';
import type { z } from 'zod';

const KIND_NAME = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$/;
const QUEUE_NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** What `defineKind` is given: the name, the queue and the payload's schema; the rest has defaults. */
export interface KindOptions<S extends z.ZodType> {
  /** Words joined by dots, as in `media.thumbnail`. */
  readonly name: string;
  /** The BullMQ queue its jobs wait in: kebab-case. Several kinds may share one. */
  readonly queue: string;
  readonly payload: S;
  /** How often a job is tried before it counts as failed. Default 1. */
  readonly attempts?: number;
  /** How long after a failed attempt the next one starts. Default at once. */
  readonly backoff?: Backoff;
  /** How long, and how many, finished jobs are kept. Default 24 h and 1000, of completed and of failed each. */
  readonly keep?: { readonly age?: Duration; readonly count?: number };
}

export interface Backoff {
  readonly type: 'fixed' | 'exponential';
  readonly delay: Duration;
}

/** A sort of job. Made by `defineKind`; its durations are in ms. */
export interface Kind<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly queue: string;
  readonly payload: S;
  readonly attempts: number;
  readonly backoff?: { readonly type: 'fixed' | 'exponential'; readonly delayMs: number };
  readonly keep: { readonly ageMs: number; readonly count: number };
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

  const { name, queue, payload, attempts = 1, backoff, keep = {} } = options;
  if (!KIND_NAME.test(name) || name.length > 64) {
    problems.push(`name must be lower-case words joined by dots (at most 64 characters); got "${name}".`);
  }
  if (!QUEUE_NAME.test(queue) || queue.length > 64) {
    problems.push(`queue must be kebab-case (at most 64 characters); got "${queue}".`);
  }
  if (typeof payload?.safeParse !== 'function') problems.push('payload must be a zod schema.');
  if (!Number.isInteger(attempts) || attempts < 1)
    problems.push(`attempts must be at least 1; got ${attempts}.`);
  const count = keep.count ?? 1000;
  if (!Number.isInteger(count) || count < 1) problems.push(`keep.count must be at least 1; got ${count}.`);
  const ageMs = ms(keep.age ?? '24h', 'keep.age');
  const delayMs = backoff ? ms(backoff.delay, 'backoff.delay') : 0;

  if (problems.length > 0) {
    throw new TypeError(`Kind "${name}" has ${problems.length} problem(s):\n  ${problems.join('\n  ')}`);
  }
  return Object.freeze({
    name,
    queue,
    payload,
    attempts,
    keep: { ageMs, count },
    ...(backoff && { backoff: { type: backoff.type, delayMs } }),
  });
}
