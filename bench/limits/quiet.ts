import type { Job } from 'bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { Place } from './ways.js';

const CALL = 1_000;
const QUIET = 20;
const RUN_MS = 1;

/** Of a quiet owner's jobs, each beside the backlog of a noisy one, by one worker with one run at a time. */
export interface QuietDelay {
  readonly backlog: number;
  readonly fair: boolean;
  /** How many jobs of the noisy owner began between the answer to the enqueue of a quiet job and its start. */
  readonly most: number;
}

export async function quietDelay(url: string, fair: boolean, backlog: number): Promise<QuietDelay> {
  const place = new Place(url, { fair });
  await place.redis.flushall();
  for (let from = 0; from < backlog; from += CALL)
    await place.queue.addBulk(Array.from({ length: CALL }, () => jobOf('user:noisy')));
  let [began, most] = [0, 0];
  /** What had begun when the store had answered that it has the quiet job. */
  const before: number[] = [];
  const work = place.work(fair ? 2_000 : backlog + QUIET, 1, async ({ name, data }: Job<{ n?: number }>) => {
    if (name === 'quiet') {
      most = Math.max(most, began - (before[data.n!] ?? began));
    } else {
      began += 1;
      if (fair || began % 100 === 0) await pause(RUN_MS);
    }
  });
  for (let n = 0; n < QUIET; n += 1) {
    await pause(5);
    await place.queue.add('quiet', { n }, { owners: ['user:quiet'], removeOnComplete: true });
    before[n] = began;
  }
  await work;
  await place.redis.flushall();
  await place.close();
  return { backlog, fair, most };
}

function jobOf(owner: string) {
  return { name: 'noisy', data: {}, opts: { owners: [owner], removeOnComplete: true } };
}
