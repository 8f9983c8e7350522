import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until, untilStopped } from '../../../../test/support/core-kit.js';

const MOST_RECEIPTS = 1_000;
const DAY_MS = 86_400_000;
const FULL = { code: 'CLOSED_FULL' };
const CLOSED = { code: 'OWNER_CLOSED' };

/** A caller that may cancel can name any number of owners that never had a job. */
describe('a cancel of an owner without a job', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit(undefined, { maxClosed: 3, receiptKeep: '2m' });
  });

  afterEach(() => kit.stop());

  const add = (owner: string) => kit.queue().add('x', {}, { owners: [owner] });
  const cancel = (owner: string, options = {}) => kit.owners.cancel(owner, options);

  it('is answered like any other, and its cancelId gets the same receipt again', async () => {
    const order = { reason: 'sold', by: 'ann', cancelId: 'c-1' };

    const receipt = await cancel('trip:1', order);

    expect(receipt).toMatchObject({ ...order, owner: 'trip:1', closed: true, removed: 0, done: true });
    expect(receipt.epoch).toMatch(/^\d+$/);
    expect(Date.now() - receipt.at).toBeLessThan(60_000);
    expect(await cancel('trip:1', order)).toEqual(receipt);
    expect(await kit.owners.receipt('c-1')).toEqual(receipt);
    expect(await kit.owners.openReceipts()).toEqual([]);
    await expect(cancel('trip:2', order)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('leaves only its receipt for an owner that it does not close', async () => {
    const order = { close: false, cancelId: 'c-1' };
    expect(await cancel('trip:1', order)).toMatchObject({ closed: false, epoch: '', done: true });
    expect(await keys()).toEqual(['~empty', '~partitions', '~receipts', '~receipt~c-1']);

    await add('trip:1');

    // A repeated cancel does not end jobs that were enqueued in the meantime.
    expect(await cancel('trip:1', order)).toMatchObject({ removed: 0 });
    expect(await cancel('trip:1', { close: false })).toMatchObject({ removed: 1, done: true });
  });

  it('is refused when the limit of such owners is reached; owners with jobs are still closed', async () => {
    for (const n of [1, 2, 3]) await cancel(`trip:${n}`);
    await expect(cancel('trip:4', { cancelId: 'c-4' })).rejects.toMatchObject(FULL);
    expect(await kit.owners.receipt('c-4')).toBeUndefined();
    expect(await kit.owners.get('trip:4')).toBeUndefined();

    await add('ride:1');
    expect(await cancel('ride:1')).toMatchObject({ removed: 1, closed: true, done: true });
    expect(await cancel('trip:1')).toMatchObject({ closed: true, done: true });
    expect(await cancel('trip:4', { close: false })).toMatchObject({ done: true });
    for (const owner of ['trip:1', 'ride:1']) await expect(add(owner)).rejects.toMatchObject(CLOSED);
  });

  it('shares its limit with reopens of such owners', async () => {
    for (const n of [1, 2, 3]) expect(await kit.owners.reopen(`trip:${n}`)).toMatchObject({ state: 'open' });
    await expect(kit.owners.reopen('trip:4')).rejects.toMatchObject(FULL);
    expect(await kit.owners.get('trip:4')).toBeUndefined();
    await expect(cancel('trip:4')).rejects.toMatchObject(FULL);

    await add('ride:1');
    await cancel('ride:1');
    for (const owner of ['ride:1', 'trip:1'])
      expect(await kit.owners.reopen(owner)).toMatchObject({ state: 'open' });
  });

  it('counts once, however often it is repeated, until the owner has a job', async () => {
    for (const close of [true, false, true]) await cancel('trip:1', { close });
    await kit.owners.reopen('trip:1');
    expect(await counted()).toEqual(['trip:1']);

    await add('trip:1');

    expect(await counted()).toEqual([]);
    await cancel('trip:1');
    expect(await counted()).toEqual([]);
  });

  it('is forgotten by a purge a day later, and not before; no other owner is', async () => {
    await add('ride:1');
    for (const owner of ['trip:old', 'trip:young', 'ride:1']) await cancel(owner);
    await kit.owners.reopen('trip:other');
    for (const owner of ['trip:old', 'trip:other']) await backdate(owner, 2 * DAY_MS);

    expect(await kit.owners.purgeClosed({ olderThan: '3d' })).toBe(0);
    expect(await kit.owners.purgeClosed()).toBe(2);

    expect(await counted()).toEqual(['trip:young']);
    expect(await listed()).toEqual(['ride:1', 'trip:young']);
    await add('trip:old');
    for (const owner of ['trip:young', 'ride:1']) await expect(add(owner)).rejects.toMatchObject(CLOSED);
  });

  it('leaves the list of owners when its retention ends', async () => {
    await add('ride:1');
    for (const owner of ['trip:1', 'trip:2', 'ride:1']) await cancel(owner);
    for (const owner of ['trip:1', 'ride:1']) {
      await backdate(owner, 31 * DAY_MS);
      await kit.redis.del(`${kit.prefix}~owner~${owner}`);
    }

    await add('ride:2');
    for (const owner of ['trip:3', 'ride:2']) await cancel(owner);

    expect(await listed()).toEqual(['ride:2', 'trip:2', 'trip:3']);
    expect(await listEntries()).toBe(3);
  });

  it('removes no job when its retention ends, and lists its owner once if the owner has jobs again', async () => {
    const reopened = ['trip:1', 'trip:2', 'ride:1', 'ride:2'];
    for (const owner of ['ride:1', 'ride:2']) await add(owner);
    for (const owner of reopened) {
      await cancel(owner);
      await kit.owners.reopen(owner);
      await backdate(owner, 31 * DAY_MS);
      await kit.redis.del(`${kit.prefix}~owner~${owner}`);
    }
    for (const owner of reopened) await add(owner);
    expect(await listed()).toEqual(reopened.toSorted());

    expect(await kit.owners.purgeClosed()).toBe(0);
    for (const owner of reopened) expect(await kit.owners.get(owner)).toMatchObject({ count: 1 });
    // Each added owner makes room for two whose retention has ended.
    await cancel('ride:1');
    expect(await listEntries()).toBe(reopened.length);

    for (const owner of ['trip:1', 'trip:2', 'ride:2']) await cancel(owner, { close: false });
    expect(await listed()).toEqual(['ride:1']);
    expect(await listEntries()).toBe(1);
  });

  it('leaves one entry for an owner that is closed again after its retention', async () => {
    for (const owner of ['trip:1', 'ride:1']) {
      if (owner === 'ride:1') await add(owner);
      await cancel(owner);
      await kit.redis.del(`${kit.prefix}~owner~${owner}`);
      if (owner === 'ride:1') await add(owner);
      await cancel(owner);
    }

    expect(await listEntries()).toBe(2);
  });

  it('leaves 1,000 receipts, however many owners and cancelIds are used', async () => {
    await cancel('trip:1');
    const many = Array.from({ length: 1_200 }, (_, i) => i);

    await Promise.all(many.map((i) => cancel(`no:${i}`, { close: false })));
    expect(await receipts()).toBe(MOST_RECEIPTS);
    await Promise.all(many.map(() => cancel('trip:1')));

    expect(await receipts()).toBe(MOST_RECEIPTS);
  });

  it('is kept for as long as receiptKeep says, like any other, with the history', async () => {
    let release: (() => void) | undefined;
    kit.worker(() => new Promise<void>((resolve) => (release = resolve)));
    await add('ride:1');
    await until(() => release !== undefined, 'it runs');
    await kit.queue().add('x', {}, { owners: ['ride:1'], delay: 60_000 });
    await cancel('ride:1');
    await cancel('trip:1');
    release!();
    await until(async () => (await kit.owners.history('ride:1')).length === 2, 'both are in the history');

    const kept = (await keys()).filter((key) => /^~(receipt|history|told|empty)~?/.test(key));
    expect(kept.filter((key) => key !== '~history-kept')).toHaveLength(5);
    for (const key of kept.filter((each) => each !== '~history-kept')) {
      const leftMs = await kit.redis.pttl(kit.prefix + key);
      expect({ key, isKept: leftMs > 60_000 && leftMs <= 120_000 }).toEqual({ key, isKept: true });
    }
  });

  it.each([
    ['a reason of a thousand characters', { reason: 'r'.repeat(1_000) }],
    ['an author of a thousand characters', { by: 'b'.repeat(1_000) }],
    ['a cancelId of a thousand bytes', { cancelId: 'c'.repeat(1_000) }],
    ['no cancelId at all', { cancelId: '' }],
    ['an invalid time', { happenedAt: Number.NaN }],
  ])('is refused with %s', async (_, options) => {
    await expect(cancel('trip:1', options)).rejects.toMatchObject({ code: 'INVALID' });
    await expect(kit.owners.cancelJob('audio', '1', options)).rejects.toMatchObject({ code: 'INVALID' });
    expect(await keys()).toEqual([]);
  });

  async function keys(): Promise<string[]> {
    const found = await kit.redis.keys(`${kit.prefix}~*`);
    return found.map((key) => key.slice(kit.prefix.length)).toSorted();
  }

  async function receipts(): Promise<number> {
    return (await keys()).filter((key) => key.startsWith('~receipt~')).length;
  }

  /** The owners that count against the limit. */
  function counted(): Promise<string[]> {
    return kit.redis.zrange(`${kit.prefix}~closed`, 0, '-1');
  }

  async function listed(): Promise<string[]> {
    return (await kit.owners.list()).owners.map(({ owner }) => owner);
  }

  /** The number of entries in the lists of owners; each owner is in one list. */
  async function listEntries(): Promise<number> {
    const names = (await keys()).filter((key) => key.startsWith('~owners~'));
    const counts = await Promise.all(names.map((key) => kit.redis.zcard(kit.prefix + key)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Makes the closing of an owner older. */
  async function backdate(owner: string, ms: number): Promise<void> {
    for (const list of ['closed', 'idle'])
      if ((await kit.redis.zscore(`${kit.prefix}~${list}`, owner)) !== null)
        await kit.redis.zincrby(`${kit.prefix}~${list}`, -ms * 1_000, owner);
  }
});

describe('the receipt of a cancel', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  it('is done when the last run has ended, without another pass over its jobs', async () => {
    kit.worker(untilStopped);
    const job = await kit.queue().add('x', {}, { owners: ['ride:1'] });
    await until(async () => (await job.getState()) === 'active', 'it runs');

    await kit.owners.cancel('ride:1', { cancelId: 'c-1', close: false });

    await until(async () => (await kit.owners.receipt('c-1'))?.done, 'it is done');
    expect(await kit.owners.receipt('c-1')).toMatchObject({ aborted: 1, acknowledged: 1 });
    expect(await kit.owners.openReceipts()).toEqual([]);
    await kit.nothingLeft();
  });

  it('counts the runs that its cancel told to stop, whatever was cancelled later', async () => {
    const release = new Map<string, () => void>();
    kit.worker((job) => new Promise<void>((resolve) => release.set(job.id!, resolve)));
    const bulk = [1, 2].map(() => ({ name: 'x', data: {}, opts: { owners: ['ride:1'] } }));
    const [first, second] = (await kit.queue().addBulk(bulk)).map(({ id }) => id!);
    await until(() => release.size === 2, 'both run');
    await kit.owners.cancelJob('audio', first!, { cancelId: 'c-1' });
    await kit.owners.cancelJob('audio', second!, { cancelId: 'c-2' });
    await kit.owners.cancel('ride:1', { cancelId: 'c-3', close: false });

    release.get(first!)!();

    await until(async () => (await kit.owners.receipt('c-1'))!.acknowledged === 1, 'the first run has ended');
    expect(await told('c-1', 'c-2', 'c-3')).toEqual(['1 of 1', '0 of 1', '1 of 2']);
    const days = (await kit.redis.ttl(`${kit.prefix}~told~audio:${second}`)) / 86_400;
    expect(Math.ceil(days)).toBe(7);
    release.get(second!)!();
    await kit.owners.cancel('ride:1', { cancelId: 'c-3', wait: 'drained' });
    expect(await told('c-1', 'c-2', 'c-3')).toEqual(['1 of 1', '1 of 1', '2 of 2']);
    await kit.owners.resume();
    await kit.nothingLeft();
  });

  it('counts a run that ends before the clean-up reaches it', async () => {
    let release: (() => void) | undefined;
    kit.worker(() => new Promise<void>((resolve) => (release = resolve)));
    const job = await kit.queue().add('x', {}, { owners: ['ride:1'] });
    await until(() => release !== undefined, 'it runs');
    await kit.owners.cancel('ride:1', { cancelId: 'c-1', close: false });
    // Simulates a process that was killed after the first step, whose page had none of its jobs.
    await kit.redis.del(`${kit.prefix}~told~audio:${job.id}`);
    await kit.redis.hdel(`${kit.prefix}~receipt~c-1`, 'aborted:audio');

    release!();

    await until(async () => (await kit.owners.receipt('c-1'))!.done, 'the run has ended');
    expect(await told('c-1')).toEqual(['1 of 1']);
    await kit.nothingLeft();
  });

  /** How many of the runs that each cancel told to stop have ended. */
  async function told(...cancelIds: string[]): Promise<string[]> {
    const receipts = await Promise.all(cancelIds.map((cancelId) => kit.owners.receipt(cancelId)));
    return receipts.map((receipt) => `${receipt!.acknowledged} of ${receipt!.aborted}`);
  }

  it('is not created again by a run that ends after the receipt has expired', async () => {
    let release: (() => void) | undefined;
    kit.worker(() => new Promise<void>((resolve) => (release = resolve)));
    await kit.queue().add('x', {}, { owners: ['ride:1'] });
    await until(() => release !== undefined, 'it runs');
    await kit.owners.cancel('ride:1', { cancelId: 'c-1', close: false });
    await kit.redis.del(`${kit.prefix}~receipt~c-1`);

    release!();

    await kit.nothingLeft();
    expect(await kit.redis.exists(`${kit.prefix}~receipt~c-1`)).toBe(0);
  });

  it('that the store lost before the answer is an error that asks for a repeat', async () => {
    const stopped = { release: () => undefined as void };
    kit.worker(() => new Promise<void>((resolve) => (stopped.release = resolve)));
    const job = await kit.queue().add('x', {}, { owners: ['ride:1'] });
    await until(async () => (await job.getState()) === 'active', 'it runs');
    const cancel = { cancelId: 'c-1', wait: 'drained', waitFor: '20s' } as const;

    const answer = kit.owners.cancel('ride:1', cancel);
    answer.catch(() => undefined);
    // Simulates a replica that took over without the receipt.
    await until(async () => (await kit.redis.del(`${kit.prefix}~receipt~c-1`)) === 1, 'it is gone');

    await expect(answer).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('Repeat it with the same cancelId'),
    });
    stopped.release();
    expect(await kit.owners.cancel('ride:1', { cancelId: 'c-1' })).toMatchObject({ cancelId: 'c-1' });
  });
});
