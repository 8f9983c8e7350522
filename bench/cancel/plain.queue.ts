import { Queue, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { offer, PREFIX, PRIORITY } from './cancel.app.js';

const AT_ONCE = 2_000;

/** The same queue as BullMQ gives it to everybody: for what waits beside the owner's jobs, and for the usual way. */
export class PlainQueue {
  private readonly queue: Queue;

  constructor(redis: Redis) {
    this.queue = new Queue(offer.queue, { connection: redis, prefix: PREFIX });
  }

  /** Jobs of one trip, or each of a trip of its own. All have a priority, which makes removing them cheap for both sides. */
  async add(count: number, tripId?: string): Promise<void> {
    for (let from = 0; from < count; from += AT_ONCE) {
      await this.queue.addBulk(
        Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => ({
          name: offer.name,
          data: { tripId: tripId ?? randomUUID(), driverId: String(from + i) },
          opts: { jobId: `plain-${randomUUID()}`, priority: PRIORITY },
        })),
      );
    }
  }

  /** The usual way: every job there is is loaded, those of the trip are picked, and removed one by one. Answers how many. */
  async cancel(tripId: string): Promise<number> {
    const all = (await this.queue.getJobs(['waiting', 'delayed', 'prioritized'])) as Job<{
      tripId: string;
    }>[];
    const its = all.filter(({ data }) => data.tripId === tripId);
    for (const job of its) await job.remove();
    return its.length;
  }

  close(): Promise<void> {
    return this.queue.close();
  }
}
