import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit } from '../support/core-kit.js';
import { TestStore } from '../support/store.js';

const CANCELS = 6_000;
const AT_ONCE = 100;
const MOST_RECEIPTS = 1_000;

/** A program that may cancel can name any number of owners that never had a job. */
describe('cancels of owners that never had a job', () => {
  let store: TestStore;
  let kit: CoreKit;

  beforeEach(async () => {
    store = await TestStore.start('--maxmemory-policy', 'noeviction');
    kit = new CoreKit(store.url);
  });

  afterEach(async () => {
    await kit.redis.config('SET', 'maxmemory', 0);
    await kit.stop();
    await store.stop();
  });

  const add = (owner: string) => kit.queue().add('x', {}, { owners: [owner] });

  it('are small: 6,000 of them leave room for jobs in 5 MB, and each owner stays closed', async () => {
    await kit.owners.cancel('trip:first');
    await add('ride:first');
    await limitMemory(5_000_000);

    await cancelMany((i) => kit.owners.cancel(`trip:${i}`, { reason: 'sold', cancelId: `c-${i}` }));

    await add('ride:1');
    for (const trip of [0, 3_000, CANCELS - 1])
      await expect(add(`trip:${trip}`)).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    expect(await receipts()).toBe(MOST_RECEIPTS);
    await kit.owners.purgeClosed({ olderThan: 0 });
    expect(await kit.redis.keys(`${kit.prefix}~owner~trip:*`)).toEqual([]);
    await kit.owners.cancel('ride:1');
    await kit.owners.cancel('ride:first');
  });

  it('leave 1,000 receipts in a full store, which grows no further', async () => {
    await kit.owners.cancel('trip:first');
    await limitMemory(4_000_000);
    await fill();
    await cancelMany((i) => kit.owners.cancel(`no:${i}`, { close: false }), MOST_RECEIPTS);
    const before = await usedMemory();

    await cancelMany((i) => kit.owners.cancel(`no:more-${i}`, { close: false }));

    expect(await receipts()).toBe(MOST_RECEIPTS);
    expect((await usedMemory()) - before).toBeLessThan(100_000);
    await expect(add('ride:1')).rejects.toMatchObject({ code: 'STORE_FULL' });
  });

  async function cancelMany(cancel: (i: number) => Promise<unknown>, many = CANCELS): Promise<void> {
    for (let at = 0; at < many; at += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => cancel(at + i)));
  }

  /** This much more than the store and its scripts use now. */
  async function limitMemory(bytes: number): Promise<void> {
    await kit.redis.config('SET', 'maxmemory', (await usedMemory()) + bytes);
  }

  async function usedMemory(): Promise<number> {
    return Number(/used_memory:(\d+)/.exec(await kit.redis.info('memory'))![1]);
  }

  /** Writes until the store refuses a write. */
  async function fill(): Promise<void> {
    const write = (i: number): Promise<unknown> =>
      kit.redis.set(`${kit.prefix}-filler:${i}`, 'x'.repeat(10_000));
    for (let i = 0; (await write(i).catch(() => undefined)) !== undefined; i += 1);
  }

  async function receipts(): Promise<number> {
    return (await kit.redis.keys(`${kit.prefix}~receipt~*`)).length;
  }
});
