import { Injectable } from '@nestjs/common';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { QueueWorkers } from './queue-workers.js';
import { RunningJobs } from './running-jobs.js';

const STUCK_AFTER_MS = 15_000;

/**
 * Whether this process really takes jobs. A worker whose connection died quietly still says that it runs; so this
 * looks at what it does: jobs wait, it has room, the queue is not paused, and yet from one look to the next,
 * for a while, it took none.
 */
@Injectable()
export class Consumption {
  private readonly hungrySince = new Map<string, number>();

  constructor(
    private readonly options: LifecycleOptions,
    private readonly workers: QueueWorkers,
    private readonly running: RunningJobs,
    private readonly queues: Queues,
    private readonly store: Store,
  ) {}

  /** The queues from which this process should take jobs and does not. */
  async stuckQueues(now = Date.now()): Promise<string[]> {
    const stuck: string[] = [];
    for (const queue of this.workers.queues()) {
      if (await this.isStuck(queue, now)) stuck.push(queue);
    }
    return stuck;
  }

  private async isStuck(queue: string, now: number): Promise<boolean> {
    if (!this.hasRoom(queue) || !(await this.hasJobsToTake(queue))) {
      this.hungrySince.delete(queue);
      return false;
    }
    const since = Math.max(this.hungrySince.get(queue) ?? now, this.running.lastTakenAt(queue));
    this.hungrySince.set(queue, since);
    return now - since >= STUCK_AFTER_MS;
  }

  private hasRoom(queue: string): boolean {
    const concurrency = this.options.worker?.concurrency ?? LIFECYCLE_DEFAULTS.concurrency;
    return this.running.countIn(queue) < concurrency;
  }

  private hasJobsToTake(name: string): Promise<boolean> {
    return this.store.call(async () => {
      const queue = this.queues.get(name);
      const [counts, isPaused] = await Promise.all([
        queue.getJobCounts('waiting', 'prioritized'),
        queue.isPaused(),
      ]);
      return !isPaused && Object.values(counts).some((count) => count > 0);
    });
  }
}
