import { Injectable } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { PRIORITIES } from '../kinds/priority.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { QueueCensus, type QueueCount } from './queue.census.js';

/** A queue as an operator sees it. */
export interface QueueView extends QueueCount {
  /** How long the job that is due for longest has been due; null when none waits. */
  readonly oldestWaitingMs: number | null;
  /** Nothing of it is begun; what runs goes on. */
  readonly paused: boolean;
}

/** Reads the queues, and holds them back, at a cost that does not follow how many jobs wait. */
@Injectable()
export class QueueReader {
  constructor(
    private readonly queues: Queues,
    private readonly store: Store,
    private readonly census: QueueCensus,
  ) {}

  async read(): Promise<QueueView[]> {
    const counted = await this.census.take();
    return Promise.all(counted.map((count) => this.view(count)));
  }

  /** Nothing more of it is begun, anywhere; false when there is no such queue here. */
  async pause(name: string): Promise<boolean> {
    return this.switch(name, (queue) => queue.pause());
  }

  async resume(name: string): Promise<boolean> {
    return this.switch(name, (queue) => queue.resume());
  }

  private async switch(name: string, turn: (queue: Queue) => Promise<void>): Promise<boolean> {
    if (!this.queues.has(name)) return false;
    await this.store.call(() => turn(this.queues.get(name)));
    return true;
  }

  private view(count: QueueCount): Promise<QueueView> {
    const queue = this.queues.get(count.queue);
    return this.store.call(async () => {
      const [first, paused] = await Promise.all([firstOfEachPriority(queue), queue.isPaused()]);
      const due = first.map(dueSince);
      const oldestWaitingMs = due.length > 0 ? Math.max(0, Date.now() - Math.min(...due)) : null;
      return { ...count, oldestWaitingMs, paused };
    });
  }
}

/** Jobs of one priority wait in the order they came in, so the oldest of all is the first of its own. */
async function firstOfEachPriority(queue: Queue): Promise<Job[]> {
  const counts = await queue.getCountsPerPriority(PRIORITIES);
  const [atOnce = 0, ...later] = PRIORITIES.map((priority) => counts[priority] ?? 0);
  const firsts: Promise<Job[]>[] = [];
  if (atOnce > 0) firsts.push(queue.getJobs(['waiting'], 0, 0, true) as Promise<Job[]>);
  let before = 0;
  for (const count of later) {
    if (count > 0) firsts.push(queue.getJobs(['prioritized'], before, before, true) as Promise<Job[]>);
    before += count;
  }
  // One that was taken in between is none that waits.
  return (await Promise.all(firsts)).flat().filter((job) => job !== undefined);
}

/** One that was begun before waits since then at most. */
function dueSince({ timestamp, opts, processedOn = 0 }: Job): number {
  return Math.max(timestamp + (opts.delay ?? 0), processedOn);
}
