import { Injectable } from '@nestjs/common';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';

/** How many looks in a row must agree: what is on its way between the count and the queue is gone by the next one. */
const LOOKS = 3;
/** For how long nobody else mends the same count: others looked before it was mended. */
const ALONE_MS = 5_000;

/** A queue whose counted depth was wrong, and by how much. */
export interface Mended {
  readonly queue: string;
  readonly by: number;
}

/**
 * Compares the counted depth of each queue with what BullMQ holds. A process that dies between the two leaves the count
 * wrong; so do a job that is taken over from a dead worker, and a count that was sent twice because its answer was lost.
 */
@Injectable()
export class DepthCensus {
  private readonly keys: Keys;
  /** What the last looks found too much (or, below zero, too little), by queue. */
  private readonly seen = new Map<string, number[]>();

  constructor(
    private readonly options: LifecycleOptions,
    private readonly queues: Queues,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** One look at every queue. It mends what this look and those before it agree on. */
  async look(): Promise<Mended[]> {
    const mended: Mended[] = [];
    for (const { name } of this.queues.all()) {
      const by = -agreed(await this.store.call(() => this.note(name)));
      if (by === 0) continue;
      this.seen.delete(name);
      if (await this.store.call(() => this.mend(name, by))) mended.push({ queue: name, by });
    }
    return mended;
  }

  private async note(name: string): Promise<readonly number[]> {
    const [counted, counts] = await Promise.all([
      this.options.redis.hget(this.keys.queue(name), 'n'),
      this.queues.get(name).getJobCounts('waiting', 'prioritized', 'delayed', 'waiting-children'),
    ]);
    const waiting = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const looks = [...(this.seen.get(name) ?? []), Number(counted ?? 0) - waiting].slice(-LOOKS);
    this.seen.set(name, looks);
    return looks;
  }

  /** By a difference, not to a number: jobs come and go meanwhile. */
  private async mend(name: string, by: number): Promise<boolean> {
    const key = this.keys.queue(name);
    const isAlone = await this.options.redis.set(`${key}:mended`, by, 'PX', ALONE_MS, 'NX');
    if (isAlone) await runScript(this.options.redis, 'depth', [key], [by, '']);
    return isAlone !== null;
  }
}

/** The part that all looks have in common; none, when there were too few, or one of them saw no error or its opposite. */
function agreed(looks: readonly number[]): number {
  if (looks.length < LOOKS) return 0;
  const least = Math.min(...looks);
  return least > 0 ? least : Math.min(0, Math.max(...looks));
}
