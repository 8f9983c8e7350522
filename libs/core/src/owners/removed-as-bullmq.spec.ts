import type { Queue } from 'bullmq';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CoreKit } from '../../../../test/support/core-kit.js';

let kit: CoreKit;

beforeEach(() => {
  kit = new CoreKit();
});

afterEach(() => kit.stop());

it('leaves the same keys of cancelled jobs as BullMQ leaves of removed jobs', async () => {
  const plain = kit.plainQueue('plain');
  for (const id of await addTo(plain)) await plain.remove(id);

  await addTo(kit.queue('moored'), { owners: ['track:1'] });
  await kit.owners.cancel('track:1', { wait: 'drained' });

  expect(await leftOf('moored')).toEqual(await leftOf('plain'));
  expect((await leftOf('moored')).removals).toHaveLength(6);
});

/** Jobs in several places, some with lines in their log. */
async function addTo(queue: Queue, more = {}): Promise<string[]> {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const [i, jobId] of ids.entries()) {
    const job = await queue.add('job', {}, { jobId, priority: 1, delay: i < 3 ? 0 : 60_000, ...more });
    if (i % 2 === 0) await job.log('a line');
  }
  return ids;
}

/** The keys and the removals, in any order. */
async function leftOf(queue: string): Promise<{ keys: string[]; removals: string[] }> {
  const root = `${kit.prefix}:${queue}:`;
  const keys = (await kit.redis.keys(`${root}*`)).map((key) => key.slice(root.length));
  const events = await kit.redis.xrange(`${root}events`, '-', '+');
  const removals = events.map(([, fields]) => fields.join(' ')).filter((text) => text.includes('removed'));
  return { keys: keys.toSorted(), removals: removals.toSorted() };
}
