import { Queue, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { offer, PREFIX, timeout } from './sweep.app.js';
import type { Side, Swept } from './sweeper.process.js';

/** Of the data of a job, what the usual way looks at. */
interface Data {
  readonly tripId: string;
}

/** The usual way: every job of every queue is loaded, and its trip asked for. */
export function usual(redis: Redis, serviceUrl: string): Side {
  const queues = [offer, timeout].map(({ queue }) => new Queue(queue, { connection: redis, prefix: PREFIX }));
  const isOver = async ({ data }: Job<Data>): Promise<boolean> => {
    const response = await fetch(`${serviceUrl}/trips/${data.tripId}`);
    return ((await response.json()) as { status: string }).status !== 'PENDING';
  };
  return {
    async sweep() {
      const swept = { asked: 0, removed: 0 };
      for (const queue of queues) await sweepQueue(queue, isOver, swept);
      return swept;
    },
    async close() {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

async function sweepQueue(
  queue: Queue,
  isOver: (job: Job<Data>) => Promise<boolean>,
  swept: { -readonly [name in keyof Swept]: number },
): Promise<void> {
  const jobs = (await queue.getJobs(['waiting', 'delayed', 'prioritized'])) as Job<Data>[];
  for (const job of jobs) {
    swept.asked += 1;
    if (!(await isOver(job))) continue;
    await job.remove();
    swept.removed += 1;
  }
}
