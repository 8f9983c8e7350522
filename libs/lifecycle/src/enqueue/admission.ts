import { Injectable } from '@nestjs/common';
import { QueueFullError } from '../errors.js';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Tally {
  entering: Waiting[];
  leaving: number;
}

/**
 * Counts the waiting jobs of each queue, and lets no more in than may wait. What comes and goes in one turn of the event
 * loop is counted in one step. A crash can leave the count wrong; the janitor's census mends it. So it does when a job is
 * taken over from a dead worker: whether that one had counted it out, or a lost run that lives has given it back, nobody can
 * tell from outside.
 */
@Injectable()
export class Admission {
  private readonly keys: Keys;
  private readonly max: number;
  private readonly tallies = new Map<string, Tally>();

  constructor(
    private readonly options: LifecycleOptions,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.max = options.maxWaiting ?? LIFECYCLE_DEFAULTS.maxWaiting;
  }

  /** One more job waits; refused when the queue is full. */
  enter(queue: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.tally(queue).entering.push({ resolve, reject });
    });
  }

  /** As it is now: who enters is counted exactly. @throws QueueFullError */
  async checkRoom(queue: string): Promise<void> {
    const max = this.maxIn(queue);
    const waiting = await this.options.redis.hget(this.keys.queue(queue), 'n');
    if (Number(waiting ?? 0) >= max) throw new QueueFullError(`Queue "${queue}"`, max);
  }

  /** One job waits no more: it runs, or it was not to be. */
  leave(queue: string): void {
    this.tally(queue).leaving += 1;
  }

  /** One job waits again: its run was put off, handed back or failed. It is not refused, whatever the limit. */
  comeBack(queue: string): void {
    this.tally(queue).leaving -= 1;
  }

  private tally(queue: string): Tally {
    let tally = this.tallies.get(queue);
    if (!tally) {
      tally = { entering: [], leaving: 0 };
      this.tallies.set(queue, tally);
      setImmediate(() => void this.flush(queue));
    }
    return tally;
  }

  private async flush(queue: string): Promise<void> {
    const { entering, leaving } = this.tallies.get(queue)!;
    this.tallies.delete(queue);
    try {
      // A fall that fails is not the fault of those who come; the census mends the count.
      if (leaving !== 0)
        await this.change(queue, -leaving, '').catch((error: unknown) =>
          this.journal.queueError(queue, error),
        );
      if (entering.length === 0) return;
      const max = this.maxIn(queue);
      const letIn = await this.change(queue, entering.length, max);
      for (const [i, { resolve, reject }] of entering.entries()) {
        if (i < letIn) resolve();
        else reject(new QueueFullError(`Queue "${queue}"`, max));
      }
    } catch (error) {
      for (const { reject } of entering) reject(error);
    }
  }

  private maxIn(queue: string): number {
    return Math.min(this.max, this.options.maxWaitingIn?.[queue] ?? Infinity);
  }

  private async change(queue: string, by: number, max: number | ''): Promise<number> {
    const [letIn] = (await runScript(this.options.redis, 'depth', [this.keys.queue(queue)], [by, max])) as [
      number,
    ];
    return letIn;
  }
}
