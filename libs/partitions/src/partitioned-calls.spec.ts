import { UnrecoverableError, type Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseOwner } from '#core';
import type { OwnersAt } from '#core/parts';
import { until } from '../../../test/support/core-kit.js';
import { PartitionsKit } from '../../../test/support/partitions-kit.js';
import { partitionOfOwner } from './model/partitions.js';

const { PARTITIONS } = PartitionsKit;
const TRACKS = Array.from({ length: 12 }, (_, n) => `track:${n}`);

describe('with several partitions', () => {
  let kit: PartitionsKit;

  beforeEach(() => {
    kit = new PartitionsKit({ maxClosed: 3 });
  });

  afterEach(() => kit.stop());

  const ownersOf = ({ data }: { data: Job['data'] }) => [(data as { track: string }).track];
  const parts = () => (kit.owners['at'].canceller as never as { parts: OwnersAt[] }).parts;
  const rootOf = (job: Job) => job.queueQualifiedName.slice(0, job.queueQualifiedName.lastIndexOf(':'));
  const jobsOf = (track: string) => ({ name: 'x', data: { track }, opts: { owners: [track, 'user:1'] } });

  it('a job is in the partition of the owner that ownersOf names', async () => {
    const queue = kit.queue('audio', { ownersOf });
    const added = await queue.addBulk(TRACKS.map((track) => ({ name: 'x', data: { track } })));
    added.push(await queue.add('x', { track: 'track:5' }));
    const { id } = await queue.enqueue('x', { track: 'track:7' });
    added.push((await queue.getJob(id))!);
    const turn = await queue.upsertJobScheduler('nightly', { every: 60_000 }, { data: { track: 'track:2' } });

    for (const job of [...added, turn])
      expect(rootOf(job)).toBe(kit.roots[partitionOfOwner(ownersOf(job)[0]!, PARTITIONS)]);
    for (const track of TRACKS) await kit.owners.cancel(track, { close: false });
    expect(await queue.count()).toBe(0);
    await kit.nothingLeft();
  });

  it('retries one failed job, or all up to a limit', async () => {
    const queue = kit.queue();
    const failing = kit.worker(() => Promise.reject(new UnrecoverableError('broken')));
    const jobs = await queue.addBulk(TRACKS.map(jobsOf));
    await until(async () => (await queue.getFailedCount()) === 12, 'all have failed');
    await failing.close();

    expect(await queue.retry(jobs[4]!.id!)).toBe('prioritized');
    await expect(queue.retry('nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await queue.retryMatching({ limit: 7 })).toMatchObject({ retried: 7, refused: 0 });
    expect(await queue.getFailedCount()).toBe(4);
    expect(await queue.retryMatching({ owner: 'user:1' })).toMatchObject({ retried: 4 });
    expect((await kit.owners.cancel('user:1')).removed).toBe(12);
  });

  it('adopts the jobs of plain producers in all partitions, in pages', async () => {
    const queue = kit.queue();
    await queue.addBulk(TRACKS.map((track) => ({ name: 'x', data: { track } })));

    const pages = [];
    let cursor: string | undefined;
    do {
      const page = await queue.adopt({ ownersOf, limit: 5, ...(cursor !== undefined && { cursor }) });
      pages.push(page.adopted);
      cursor = page.cursor;
    } while (cursor !== undefined);

    expect(pages.reduce((sum, each) => sum + each)).toBe(12);
    expect(await queue.adopt({ ownersOf })).toMatchObject({ adopted: 0 });
    expect((await kit.owners.cancel('track:3', { close: false })).removed).toBe(1);
    await queue.drain();
    await kit.nothingLeft();
  });

  it('reads slots and sets their limits in any partition', async () => {
    const queue = kit.queue();
    for (const track of TRACKS) await queue.add('x', {}, { owners: [track], slot: { key: track, limit: 1 } });
    const slots = kit.slots();

    for (const track of TRACKS) {
      expect(await slots.setLimit(track, 2)).toBe(1);
      expect(await slots.get(track)).toMatchObject({ key: track, limit: 2 });
    }
    await expect(
      queue.add('x', {}, { owners: ['track:1'], slot: { key: 'track:1', limit: 1 } }),
    ).rejects.toMatchObject({ code: 'SLOT_LIMIT' });
    kit.worker(async () => undefined);
    await until(async () => (await queue.count()) === 0, 'all ran');
    for (const track of TRACKS) expect(await slots.get(track)).toMatchObject({ holding: 0 });
  });

  it('previews a cancel without an effect', async () => {
    const queue = kit.queue();
    await queue.addBulk(TRACKS.map(jobsOf));

    const preview = await kit.owners.cancel('user:1', { dryRun: true });

    expect(preview).toMatchObject({ owner: 'user:1', removed: 12, aborted: 0, dryRun: true, done: false });
    expect(await queue.count()).toBe(12);
    expect((await kit.owners.cancel('user:1')).removed).toBe(12);
  });

  it('previews a late cancel of an owner that was reopened since', async () => {
    const happenedAt = Date.now() - 1_000;
    await kit.owners.reopen('user:1');

    expect(await kit.owners.cancel('user:1', { dryRun: true, happenedAt })).toMatchObject({ late: true });
  });

  it('limits closed owners without jobs once for all partitions, and purges them in all', async () => {
    for (const name of ['a:1', 'a:2', 'a:3']) await kit.owners.cancel(name);
    const full = { code: 'CLOSED_FULL' };
    await expect(kit.owners.cancel('a:4')).rejects.toMatchObject(full);
    await expect(kit.owners.reopen('a:5')).rejects.toMatchObject(full);
    expect(await kit.owners.get('a:4')).toBeUndefined();

    expect(await kit.owners.purgeClosed({ olderThan: 0 })).toBe(3);

    expect((await kit.owners.list()).owners).toEqual([]);
    expect(await kit.owners.cancel('a:4')).toMatchObject({ closed: true, done: true });
  });

  it('closes an owner with jobs in another partition at the limit of owners without jobs, and keeps it closed', async () => {
    const elsewhere = TRACKS.find((track) => partitionOfOwner(track, PARTITIONS) !== 0)!;
    const queue = kit.queue();
    await queue.add('x', {}, { owners: [elsewhere] });
    for (const name of ['a:1', 'a:2', 'a:3']) await kit.owners.cancel(name);

    expect(await kit.owners.cancel(elsewhere)).toMatchObject({ closed: true, removed: 1, done: true });
    expect(await kit.owners.purgeClosed({ olderThan: 0 })).toBe(3);

    const [owner] = (await kit.owners.list({ state: 'closed' })).owners;
    expect(owner).toMatchObject({ owner: elsewhere });
    for (const track of TRACKS) {
      const opts = { owners: [track, elsewhere] };
      await expect(queue.add('x', {}, opts)).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    }
  });

  it('reopens an owner with jobs in another partition at the limit of owners without jobs', async () => {
    const elsewhere = TRACKS.find((track) => partitionOfOwner(track, PARTITIONS) !== 0)!;
    await kit.queue().add('x', {}, { owners: [elsewhere] });
    for (const name of ['a:1', 'a:2', 'a:3']) await kit.owners.cancel(name);

    await kit.owners.reopen(elsewhere);

    expect(await kit.owners.purgeClosed({ olderThan: 0 })).toBe(3);
    for (const { reader } of parts()) {
      expect(await reader.get(parseOwner(elsewhere))).toMatchObject({ reopenedAt: expect.any(Number) });
    }
  });

  it('lets the first partition decide whether one more owner without jobs may be closed', async () => {
    for (const name of ['b:1', 'b:2', 'b:3']) await parts()[1]!.canceller.cancel(parseOwner(name));

    expect(await kit.owners.cancel('a:1')).toMatchObject({ closed: true, done: true });
    await kit.owners.reopen('a:2');

    for (const { reader } of parts()) {
      expect(await reader.get(parseOwner('a:1'))).toMatchObject({ state: 'closed' });
      expect(await reader.get(parseOwner('a:2'))).toMatchObject({ state: 'open' });
    }
  });

  it('keeps only the newest receipts of cancels that find no job', async () => {
    await kit.owners.cancel('a:1', { cancelId: 'c1' });

    const listed = await Promise.all(kit.roots.map((root) => kit.redis.zrange(`${root}~empty`, '0', '-1')));
    expect(listed).toEqual(kit.roots.map(() => ['c1']));
  });

  it('confirms a cancel when every partition has confirmed it', async () => {
    const holds: boolean[] = [];
    const hold = async <T>(write: () => Promise<T>) => ({
      value: await write(),
      isHeld: holds.shift() ?? true,
    });
    const owners = kit.anotherOwners({ durability: { hold } });
    await kit.queue().addBulk(TRACKS.map(jobsOf));

    for (const unconfirmed of [0, 1, 2]) {
      holds.push(...[0, 1, 2].map((at) => at !== unconfirmed));
      await expect(owners.cancel('user:1', { cancelId: 'c1' })).rejects.toMatchObject({
        code: 'DURABILITY_UNKNOWN',
        answer: { removed: 12, durable: false },
      });
      expect(await owners.receipt('c1')).toMatchObject({ durable: false });
    }
    expect(await owners.cancel('user:1', { cancelId: 'c1' })).toMatchObject({ removed: 12, durable: true });
    expect(await owners.receipt('c1')).toMatchObject({ durable: true });
  });

  it('announces the refused jobs of every partition', async () => {
    const queue = kit.queue();
    await queue.addBulk(
      TRACKS.map((track) => ({ ...jobsOf(track), opts: { owners: [track], expiresIn: 1 } })),
    );
    const refused: string[] = [];
    const over = Date.now() + 5;
    await until(() => Date.now() > over, 'their time is over');
    kit.worker(async () => undefined).on('refused', ({ reason }) => refused.push(reason));

    await until(() => refused.length === 12, 'all are refused');

    expect(new Set(refused)).toEqual(new Set(['expired']));
  });
});
