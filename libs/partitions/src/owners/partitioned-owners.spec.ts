import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/core-kit.js';
import { PartitionsKit } from '../../../../test/support/partitions-kit.js';
import { partitionOfOwner } from '../model/partitions.js';
import type { OwnersAt } from '#core/parts';

const { PARTITIONS } = PartitionsKit;

describe('Owners with several partitions', () => {
  let kit: PartitionsKit;

  beforeEach(() => {
    kit = new PartitionsKit();
  });

  afterEach(() => kit.stop());

  /** Jobs of one further owner, whose first owners are in all partitions. */
  const jobsOf = (owner: string, count: number, opts = {}) =>
    Array.from({ length: count }, (_, n) => ({
      name: 'x',
      data: { n },
      opts: { owners: [`track:${n}`, owner], ...opts },
    }));

  const untilStopped = (_job: Job, _token?: string, signal?: AbortSignal) =>
    new Promise<void>((_, reject) => signal!.addEventListener('abort', () => reject(new Error('stopped'))));

  const parts = () => (kit.owners['at'].canceller as never as { parts: OwnersAt[] }).parts;

  /** A cancel whose process is killed when only the first partition has it. */
  const cancelAndDie = async (owner: string, cancelId: string, close = true) => {
    const home = { turn: 'home', spread: '{}' };
    const cancel = { name: owner, cancelId, close, reason: 'gone', by: 'ann' };
    await parts()[0]!.canceller.step(cancel, undefined, home);
  };

  it('removes the jobs of an owner from all partitions with one receipt', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf('user:1', 30));
    await queue.addBulk(jobsOf('user:1', 9, { delay: 60_000 }));
    await queue.addBulk(jobsOf('user:2', 5));

    const receipt = await kit.owners.cancel('user:1', { reason: 'gone', by: 'ann', cancelId: 'c1' });

    const expected = {
      owner: 'user:1',
      closed: true,
      reason: 'gone',
      by: 'ann',
      removed: 39,
      aborted: 0,
      done: true,
      byQueue: { audio: { waiting: 30, delayed: 9 } },
    };
    expect(receipt).toMatchObject(expected);
    expect(await kit.owners.receipt('c1')).toMatchObject(expected);
    expect(await queue.count()).toBe(5);
    expect(await kit.owners.history('user:1')).toHaveLength(39);
    expect(await kit.owners.history('user:1', 10, 7)).toHaveLength(7);
    await queue.drain();
  });

  it('stops runs in all partitions and answers when they have ended', async () => {
    kit.worker(untilStopped, { concurrency: 12 });
    await kit.queue().addBulk(jobsOf('user:1', 12));
    await until(async () => (await kit.queue().getActiveCount()) === 12, 'all run');

    const receipt = await kit.owners.cancel('user:1', { wait: 'drained' });

    expect(receipt).toMatchObject({ aborted: 12, acknowledged: 12, removed: 0, done: true });
  });

  it('refuses jobs of a closed owner in every partition until it is reopened', async () => {
    const queue = kit.queue();
    await kit.owners.cancel('user:1');

    for (const { name, data, opts } of jobsOf('user:1', 12)) {
      await expect(queue.add(name, data, opts)).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    }
    await kit.owners.reopen('user:1');
    await queue.addBulk(jobsOf('user:1', 12));

    expect(await kit.owners.get('user:1')).toMatchObject({ state: 'open', count: 12 });
    await queue.drain();
  });

  it('returns the same receipt for the same cancelId and keeps jobs that were enqueued later', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf('user:1', 12));
    const first = await kit.owners.cancel('user:1', { cancelId: 'c1', close: false });
    await queue.addBulk(jobsOf('user:1', 12));

    expect(await kit.owners.cancel('user:1', { cancelId: 'c1', close: false })).toEqual(first);
    expect(await queue.count()).toBe(12);
    await expect(kit.owners.cancel('user:2', { cancelId: 'c1' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    await queue.drain();
    await kit.nothingLeft();
  });

  it('writes nothing for an unknown owner that is not closed', async () => {
    const receipt = await kit.owners.cancel('ghost:1', { close: false, cancelId: 'c1' });

    expect(receipt).toMatchObject({ owner: 'ghost:1', removed: 0, done: true });
    const keys = await kit.redis.keys(`*${kit.prefix}*`);
    expect(keys).toEqual([`${kit.prefix}~partitions`]);
  });

  it('finishes a cancel whose process was killed between two partitions', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf('user:1', 30));
    await cancelAndDie('user:1', 'c1');
    expect(await queue.count()).toBeGreaterThan(0);
    expect((await kit.owners.openReceipts()).map(({ cancelId, done }) => [cancelId, done])).toEqual([
      ['c1', false],
    ]);

    await kit.anotherOwners().resume();

    expect(await queue.count()).toBe(0);
    expect(await kit.owners.receipt('c1')).toMatchObject({
      removed: 30,
      done: true,
      reason: 'gone',
      by: 'ann',
    });
    expect(await kit.owners.openReceipts()).toEqual([]);
    for (const { name, data, opts } of jobsOf('user:1', 6)) {
      await expect(queue.add(name, data, opts)).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    }
  });

  it('finishes such a cancel when it is repeated', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf('user:1', 30));
    await cancelAndDie('user:1', 'c1');

    expect(await kit.owners.cancel('user:1', { cancelId: 'c1' })).toMatchObject({ removed: 30, done: true });
    expect(await kit.owners.resume()).toBe(0);
  });

  it('finishes such a cancel before the owner is reopened, and keeps jobs that were enqueued later', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf('user:1', 30));
    await cancelAndDie('user:1', 'c1');

    await kit.owners.reopen('user:1');

    expect((await kit.owners.get('user:1'))?.state).toBe('open');
    const added = await queue.addBulk(jobsOf('user:1', 12));
    await kit.owners.resume();
    expect(await queue.count()).toBe(12);
    expect(await queue.getJob(added[0]!.id!)).toBeDefined();
    await queue.drain();
  });

  it('does not undo a later close with a late reopen', async () => {
    const [home, ...others] = parts();
    await kit.owners.cancel('user:1');
    const [, , turn] = await home!.canceller.reopen({ type: 'user', id: '1' }, { turn: 'home' });
    await kit.owners.cancel('user:1');

    for (const { canceller } of others) {
      expect(await canceller.reopen({ type: 'user', id: '1' }, { turn: turn! })).toEqual(['late']);
    }
    const states = await Promise.all(parts().map(({ reader }) => reader.get({ type: 'user', id: '1' })));
    expect(states.map((record) => record?.state)).toEqual(['closed', 'closed', 'closed']);
  });

  it('does not undo a later reopen with a late close', async () => {
    const cancel = { cancelId: 'late', name: 'user:1' };
    const turn = String(Date.now() * 1_000 - 60_000_000);
    await kit.owners.cancel('user:1');
    await kit.owners.reopen('user:1');

    for (const { canceller } of parts().slice(1))
      expect(await canceller.step(cancel, undefined, { turn })).toEqual(['late']);

    const states = await Promise.all(parts().map(({ reader }) => reader.get({ type: 'user', id: '1' })));
    expect(states.map((record) => record?.state)).toEqual(['open', 'open', 'open']);
    expect(await kit.owners.receipt('late')).toBeUndefined();
  });

  it('fails when a partition does not answer, and is finished later', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf('user:1', 30));
    const away = parts()[2]!.canceller;
    const step = away.step.bind(away);
    away.step = () => Promise.reject(new Error('The store is away.'));

    await expect(kit.owners.cancel('user:1', { cancelId: 'c1' })).rejects.toThrow('away');
    away.step = step;

    expect(await kit.owners.receipt('c1')).toMatchObject({ done: false });
    await kit.owners.resume();
    expect(await kit.owners.receipt('c1')).toMatchObject({ removed: 30, done: true });
  });

  it('does not cancel an owner that got a job in any partition since the caller looked', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf('user:1', 2));
    for (let n = 2; n < 8; n += 1) {
      const seen = (await kit.owners.get('user:1'))!;
      await queue.add('x', {}, { owners: [`track:${n}`, 'user:1'] });
      expect(await kit.owners.cancel('user:1', {}, seen)).toMatchObject({ late: true, removed: 0 });
    }

    const seen = (await kit.owners.get('user:1'))!;
    expect(await kit.owners.cancel('user:1', {}, seen)).toMatchObject({ late: false, removed: 8 });
  });

  it('does not cancel an owner that was reopened after the event', async () => {
    const before = Date.now() - 1_000;
    await kit.owners.reopen('user:1');
    await kit.queue().addBulk(jobsOf('user:1', 6));

    expect(await kit.owners.cancel('user:1', { happenedAt: before })).toMatchObject({ late: true });
    expect(await kit.queue().count()).toBe(6);
    await kit.owners.cancel('user:1');
  });

  it('cancels one job, whether its id names the partition or not', async () => {
    const queue = kit.queue();
    const jobs = await queue.addBulk(jobsOf('user:1', 6));
    await queue.add('x', {}, { owners: ['track:4', 'user:1'], jobId: 'order-7' });

    for (const id of [jobs[0]!.id!, jobs[5]!.id!, 'order-7']) {
      const first = await kit.owners.cancelJob('audio', id, { cancelId: `c-${id}` });
      expect(first).toMatchObject({ removed: 1, done: true });
      expect(await kit.owners.cancelJob('audio', id, { cancelId: `c-${id}` })).toEqual(first);
      expect(await kit.owners.cancelJob('audio', id)).toBeUndefined();
    }
    expect(await queue.count()).toBe(4);
    await queue.drain();
    await kit.nothingLeft();
  });

  it('lists the receipt of each cancel once, in pages', async () => {
    for (const n of [1, 2, 3, 4, 5]) await kit.owners.cancel(`user:${n}`, { cancelId: `c-${n}` });

    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await kit.owners.listReceipts({ limit: 2, cursor });
      found.push(...page.receipts.map(({ cancelId }) => cancelId));
      cursor = page.cursor;
    } while (cursor !== undefined);

    expect(found).toEqual(['c-5', 'c-4', 'c-3', 'c-2', 'c-1']);
  });

  it('lists each owner once, in pages', async () => {
    const queue = kit.queue();
    await queue.addBulk(jobsOf('user:1', 9));
    await kit.owners.cancel('user:2');
    const expected = [...Array.from({ length: 9 }, (_, n) => `track:${n}`), 'user:1', 'user:2'];

    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await kit.owners.list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      found.push(...page.owners.map(({ owner }) => owner));
      cursor = page.cursor;
    } while (cursor !== undefined);

    expect(found).toEqual(expected);
    expect((await kit.owners.list({ state: 'closed' })).owners).toEqual([
      { owner: 'user:2', state: 'closed', count: 0 },
    ]);
    expect((await kit.owners.list({ prefix: 'user:1' })).owners).toEqual([
      { owner: 'user:1', state: 'open', count: 9 },
    ]);
    await queue.drain();
  });

  it('shows all jobs of an owner, in pages', async () => {
    const queue = kit.queue();
    const jobs = await queue.addBulk(jobsOf('user:1', 12));

    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const view = (await kit.owners.get('user:1', { ...(cursor !== undefined && { cursor }) }))!;
      expect(view).toMatchObject({ owner: 'user:1', state: 'open', count: 12 });
      found.push(...view.jobs.map(({ id }) => id));
      cursor = view.cursor;
    } while (cursor !== undefined);

    expect(found.toSorted()).toEqual(jobs.map(({ id }) => id!).toSorted());
    expect(await kit.owners.get('ghost:1')).toBeUndefined();
    await queue.drain();
  });

  it('keeps a whole flow in one partition and cancels it there', async () => {
    const at = (owner: string) => partitionOfOwner(owner, PARTITIONS);
    const other = Array.from({ length: 20 }, (_, n) => `track:${n}`).find(
      (name) => at(name) !== at('album:1'),
    )!;
    const child = (name: string, owners?: string[]) => ({
      name,
      queueName: 'audio',
      data: {},
      ...(owners && { opts: { owners } }),
    });

    const { job, children } = await kit.flows().add({
      ...child('top', ['album:1']),
      children: [child('a'), { ...child('b', [other]), children: [child('c')] }],
    });

    const jobs = [job, ...children!.map((each) => each.job), children![1]!.children![0]!.job];
    expect(new Set(jobs.map((each) => each.queueQualifiedName)).size).toBe(1);
    expect(job.queueQualifiedName).toContain(`~${at('album:1')}}`);
    const flow = await kit.flows().getFlow({ id: job.id!, queueName: 'audio' });
    expect(flow.children).toHaveLength(2);
    expect(await kit.owners.cancel(other)).toMatchObject({ removed: 2, done: true });
    expect(await kit.owners.cancel('album:1')).toMatchObject({ removed: 2, done: true });
  });
});
