import { Injectable } from '@nestjs/common';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { QueueWorkers } from './queue-workers.js';
import { RunningJobs } from './running-jobs.js';

const STUCK_AFTER_MS = 15_000;

/**
 * Whether this process takes jobs. A worker whose connection died without notice still says that it runs. So this looks at what it does:
 * jobs wait, the worker has room, the queue is not paused, and yet for a time it took none.
 */
@Injectable()
export class Consumption {
  private readonly idleSince = new Map<string, number>();

  constructor(
    private readonly workers: QueueWorkers,
    private readonly running: RunningJobs,
    private readonly queues: QueueRegistry,
  ) {}

  /** The queues from which this process should take jobs and does not. */
  async stuckQueues(now = Date.now()): Promise<string[]> {
    const stuck: string[] = [];
    for (const { name, concurrency } of this.workers.all())
      if (await this.isStuck(name, concurrency, now)) stuck.push(name);
    return stuck;
  }

  private async isStuck(queue: string, concurrency: number, now: number): Promise<boolean> {
    const running = this.running.all().filter((run) => run.queue === queue).length;
    if (running >= concurrency || !(await this.hasJobsToTake(queue))) {
      this.idleSince.delete(queue);
      return false;
    }
    const since = Math.max(this.idleSince.get(queue) ?? now, this.running.takenAt.get(queue) ?? 0);
    this.idleSince.set(queue, since);
    return now - since >= STUCK_AFTER_MS;
  }

  private async hasJobsToTake(name: string): Promise<boolean> {
    const queue = this.queues.get(name);
    const [counts, isPaused] = await Promise.all([
      queue.getJobCounts('waiting', 'prioritized'),
      queue.isPaused(),
    ]);
    return !isPaused && Object.values(counts).some((count) => count > 0);
  }
}
