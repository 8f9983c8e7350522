import type { Job } from 'bullmq';
import type { KindProblems } from './kind-problems.js';

/** A number of ms, or a text with a unit: `500ms`, `30s`, `5m`, `24h`, `7d`. */
export type Duration = number | string;

export interface Backoff {
  readonly type: 'fixed' | 'exponential';
  readonly delay: Duration;
  /** The longest that an exponential one grows to. Default 1 h. */
  readonly max?: Duration;
  /** Which part of the delay is random, 0 to 1. Default 0 for fixed, 0.2 for exponential. */
  readonly jitter?: number;
}

/** As it stands in the options of a job: any worker can read it, also one that does not know the kind. */
export interface StoredBackoff {
  readonly type: typeof KIND_BACKOFF;
  /** The delay after the first, second, … attempt. The last one stays. */
  readonly steps?: readonly number[];
  readonly firstMs?: number;
  readonly maxMs?: number;
  readonly jitter?: number;
}

/** The type under which BullMQ asks the strategy of a worker. */
export const KIND_BACKOFF = 'mooring';

export function readBackoff(
  backoff: Backoff | readonly Duration[],
  ms: (value: Duration, what: string) => number,
  problems: KindProblems,
): StoredBackoff {
  if (Array.isArray(backoff)) {
    const steps = (backoff as readonly Duration[]).map((step, i) => ms(step, `backoff[${i}]`));
    problems.check(steps.length > 0, 'backoff needs at least one step');
    return { type: KIND_BACKOFF, steps };
  }
  const { type, delay, max = '1h', jitter = type === 'exponential' ? 0.2 : 0 } = backoff as Backoff;
  problems.checkWord('backoff.type', type, ['fixed', 'exponential']);
  problems.check(jitter >= 0 && jitter <= 1, `backoff.jitter is 0 to 1; got ${jitter}`);
  const firstMs = ms(delay, 'backoff.delay');
  return { type: KIND_BACKOFF, firstMs, maxMs: type === 'fixed' ? firstMs : ms(max, 'backoff.max'), jitter };
}

/** The `backoffStrategy` of a worker: how long after the n-th failed attempt the next one starts. */
export function backoffMs(attempt: number, type = '', _error?: Error, job?: Pick<Job, 'opts'>): number {
  if (type !== KIND_BACKOFF) throw new Error(`Unknown backoff strategy ${type}.`);
  const { steps, firstMs = 0, maxMs = 0, jitter = 0 } = (job?.opts.backoff ?? {}) as StoredBackoff;
  if (steps) return steps[Math.min(attempt, steps.length) - 1] ?? 0;
  const whole = Math.min(maxMs, firstMs * 2 ** (attempt - 1));
  return Math.round(whole * (1 - jitter * Math.random()));
}
