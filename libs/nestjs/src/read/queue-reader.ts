import type { MooredQueue } from '#core';
import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { PRIORITIES } from '../kinds/priority.js';
import { ApplicationQueues } from '../queues/application-queues.js';

/** A queue as an operator sees it. */
export interface QueueView {
  readonly queue: string;
  readonly counts: Readonly<Record<string, number>>;
  /** How long the job that is due for longest has been due; null if none waits. */
  readonly oldestWaitingMs: number | null;
  /** No job of it starts; running jobs go on. */
  readonly paused: boolean;
}

/** Reads the queues and pauses them. The cost does not follow how many jobs wait. */
@Injectable()
export class QueueReader {
  constructor(private readonly queues: ApplicationQueues) {}

  read(): Promise<QueueView[]> {
    return Promise.all([...this.queues.all().values()].map(viewOf));
  }

  /** Answers false if there is no such queue here. */
  async pause(name: string): Promise<boolean> {
    const queue = this.queues.find(name);
    await queue?.pause();
    return queue !== undefined;
  }

  async resume(name: string): Promise<boolean> {
    const queue = this.queues.find(name);
    await queue?.resume();
    return queue !== undefined;
  }
}

async function viewOf(queue: MooredQueue): Promise<QueueView> {
  const [{ prioritized = 0, waiting = 0, ...counts }, firsts, paused] = await Promise.all([
    queue.getJobCounts(),
    firstOfEachPriority(queue),
    queue.isPaused(),
  ]);
  const due = firsts.map(dueSince);
  const oldestWaitingMs = due.length > 0 ? Math.max(0, Date.now() - Math.min(...due)) : null;
  return {
    queue: queue.name,
    counts: { ...counts, waiting: waiting + prioritized },
    oldestWaitingMs,
    paused,
  };
}

/** Jobs of one priority wait in the order in which they came, so the oldest of all is the first of its priority. */
async function firstOfEachPriority(queue: MooredQueue): Promise<Job[]> {
  const counts = await queue.getCountsPerPriority(PRIORITIES);
  const [atOnce = 0, ...later] = PRIORITIES.map((priority) => counts[priority] ?? 0);
  const firsts = atOnce > 0 ? [queue.getJobs(['waiting'], 0, 0, true)] : [];
  let before = 0;
  for (const count of later) {
    if (count > 0) firsts.push(queue.getJobs(['prioritized'], before, before, true));
    before += count;
  }
  // A job that was fetched in between waits no longer.
  return ((await Promise.all(firsts)).flat() as (Job | undefined)[]).filter((job) => job !== undefined);
}

/** A job that has begun before waits since then. */
function dueSince({ timestamp, opts, processedOn = 0 }: Job): number {
  return Math.max(timestamp + (opts.delay ?? 0), processedOn);
}
