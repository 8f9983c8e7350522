import { FlowProducer, type Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import type { MooredBackend } from '../backend/moored-backend.js';
import type { OwnersOf } from '../model/owners-of.js';

describe('adopting waiting jobs', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const ownersOf: OwnersOf = ({ data }) => (data.track === undefined ? [] : [`track:${data.track}`]);
  const queueOf = () => kit.queue('audio', { ownersOf });

  async function addPlain(queue: Queue, tracks: readonly number[], opts = {}): Promise<void> {
    await queue.addBulk(tracks.map((track) => ({ name: 'x', data: { track }, opts })));
  }

  /** A page that was read earlier: the id and the owners of each job. */
  function adoptThese(requests: string[]): Promise<unknown> {
    const prefix = `${kit.prefix}:audio:`;
    const { backend } = kit.queue();
    const args = [`${prefix}marker`, kit.prefix, prefix, ...requests];
    return (backend as unknown as MooredBackend).run('adoptWaiting', args);
  }

  it('gives waiting jobs in every place their owners, and does not change other jobs', async () => {
    const plain = kit.plainQueue();
    await addPlain(plain, [1, 2]);
    await addPlain(plain, [1], { priority: 3 });
    await addPlain(plain, [1], { delay: 60_000 });
    await plain.add('of no track', {});
    const flows = new FlowProducer(kit.place);
    const child = { name: 'child', queueName: 'audio', data: { track: 2 } };
    await flows.add({ name: 'parent', queueName: 'audio', data: { track: 1 }, children: [child] });
    await flows.close();

    const swept = await queueOf().adopt();

    expect(swept).toEqual({ seen: 7, adopted: 6, removed: 0, failed: 0 });
    expect(await kit.owners.get('track:1')).toMatchObject({ count: 4 });
    const [first] = await plain.getJobs(['wait'], 0, 0, true);
    expect(first).toMatchObject({ data: { track: 1 } });
    const receipt = await kit.owners.cancel('track:1', { close: false });
    expect(receipt).toMatchObject({ removed: 4, done: true });
    expect(await plain.getJobCounts('wait', 'prioritized', 'delayed', 'waiting-children')).toEqual({
      wait: 3,
      prioritized: 0,
      delayed: 0,
      'waiting-children': 0,
    });
    await plain.drain();
  });

  it('removes jobs of closed owners, and the schedulers that make them', async () => {
    const plain = kit.plainQueue();
    await plain.upsertJobScheduler('tick', { every: 60_000 }, { name: 'tick', data: { track: 1 } });
    await addPlain(plain, [1, 2, 1], { delay: 60_000 });
    await kit.owners.cancel('track:1');

    const swept = await queueOf().adopt();

    expect(swept).toMatchObject({ adopted: 1, removed: 3 });
    expect(await plain.getJobSchedulers()).toEqual([]);
    expect(await plain.getJobCountByTypes('wait', 'delayed', 'prioritized')).toBe(1);
    expect((await kit.owners.history('track:1')).map(({ reason }) => reason)).toEqual(
      Array(3).fill('cancelled'),
    );
  });

  it('continues where it stopped, and a second pass finds nothing to do', async () => {
    const plain = kit.plainQueue();
    const tracks = Array.from({ length: 450 }, (_, i) => i % 3);
    await addPlain(plain, tracks);
    await addPlain(plain, tracks, { delay: 60_000 });
    await kit.owners.cancel('track:1');
    const queue = queueOf();
    let [adopted, removed, steps] = [0, 0, 0];
    let cursor: string | undefined;
    do {
      const swept = await queue.adopt({ limit: 130, ...(cursor && { cursor }) });
      [adopted, removed, steps] = [adopted + swept.adopted, removed + swept.removed, steps + 1];
      cursor = swept.cursor;
    } while (cursor);

    expect({ adopted, removed }).toEqual({ adopted: 600, removed: 300 });
    expect(steps).toBeGreaterThan(5);
    expect(await queue.adopt()).toEqual({ seen: 600, adopted: 0, removed: 0, failed: 0 });
    expect((await kit.owners.get('track:2'))?.count).toBe(300);
  });

  it.each([{}, { priority: 1 }])('misses no job while workers take the first ones: %j', async (opts) => {
    const plain = kit.plainQueue();
    await addPlain(plain, [1, 2, 3, 4, 5], opts);
    const queue = queueOf();
    const first = await queue.adopt({ limit: 2 });
    const worker = kit.worker(() => Promise.resolve(), { autorun: false });
    const taken = await worker.getNextJob('token', { block: false });

    const second = await queue.adopt({ cursor: first.cursor! });

    expect(first.adopted + second.adopted).toBe(4);
    await taken.moveToCompleted('', 'token', false);
    for (const track of [2, 3, 4, 5]) await kit.owners.cancel(`track:${track}`, { close: false });
    expect(await plain.count()).toBe(0);
  });

  it('skips a job that a worker has taken since its page was read', async () => {
    const plain = kit.plainQueue();
    const { id } = await plain.add('x', { track: 1 });
    await kit.owners.cancel('track:1');
    const worker = kit.worker(() => Promise.resolve(), { autorun: false });
    const taken = await worker.getNextJob('token', { block: false });

    expect(await adoptThese([id!, 'track:1'])).toEqual(['passed']);
    await taken.moveToCompleted('', 'token', false);
  });

  it('leaves the index equal to the unfinished jobs while workers take the jobs', async () => {
    const plain = kit.plainQueue();
    await addPlain(
      plain,
      Array.from({ length: 600 }, (_, i) => i % 7),
    );
    let ran = 0;
    kit.worker(
      async () => {
        ran += 1;
      },
      { concurrency: 20, ownersOf },
    );
    kit.worker(
      async () => {
        ran += 1;
      },
      { concurrency: 20 },
    );

    const [first, second] = await Promise.all([queueOf().adopt(), queueOf().adopt()]);

    await until(async () => (await plain.getCompletedCount()) === 600, 'all completed');
    expect(ran).toBe(600);
    expect(first.failed + second.failed).toBe(0);
    await kit.nothingLeft();
  });

  it('does not change jobs whose owners cannot be resolved, and reports why', async () => {
    const plain = kit.plainQueue();
    await addPlain(plain, [1]);
    await plain.add('x', null);
    await plain.add('x', { track: '' });

    const swept = await queueOf().adopt();

    expect(swept).toMatchObject({ seen: 3, adopted: 1, failed: 2 });
    expect(swept.error).toBeInstanceOf(Error);
    expect(await plain.getWaitingCount()).toBe(3);
  });

  it('requires ownersOf', async () => {
    await expect(kit.queue().adopt()).rejects.toMatchObject({ code: 'INVALID' });
  });

  it('does not change a job that was taken or ended while its page was read', async () => {
    const plain = kit.plainQueue();
    let finish = (): void => undefined;
    kit.worker((job) =>
      job.name === 'done' ? Promise.resolve() : new Promise<void>((end) => (finish = end)),
    );
    const [done, running] = [await plain.add('done', {}), await plain.add('running', {})];
    await until(async () => (await done.isCompleted()) && running.isActive(), 'one ended, one runs');
    const requests = [done.id!, 'user:1', running.id!, 'user:1', 'gone', 'user:1'];

    expect(await adoptThese(requests)).toEqual(['passed', 'passed', 'passed']);

    expect(await kit.owners.get('user:1')).toBeUndefined();
    finish();
    await until(() => running.isCompleted(), 'it completes');
  });

  it('adopts jobs in every waiting state, children and parents too, and does not change jobs with owners', async () => {
    const plain = kit.plainQueue();
    await plain.add('waiting', {});
    await plain.add('delayed', {}, { delay: 60_000 });
    await plain.add('prioritized', {}, { priority: 7 });
    const queue = kit.queue();
    await queue.add('owned', {}, { owners: ['user:2'] });
    await kit
      .flows()
      .add({ name: 'parent', queueName: 'audio', children: [{ name: 'child', queueName: 'audio' }] });

    const adoption = await queue.adopt({ ownersOf: () => ['user:1'] });

    expect(adoption).toEqual({ seen: 6, adopted: 5, removed: 0, failed: 0 });
    const { jobs } = (await kit.owners.get('user:1'))!;
    expect(jobs.map(({ name }) => name).toSorted()).toEqual([
      'child',
      'delayed',
      'parent',
      'prioritized',
      'waiting',
    ]);
    await kit.owners.cancel('user:1', { wait: 'drained' });
    expect((await queue.getJobs()).map(({ name }) => name)).toEqual(['owned']);
    await kit.owners.cancel('user:2', { wait: 'drained' });
  });

  it('counts jobs whose owners cannot be resolved and does not change them', async () => {
    await kit.plainQueue().addBulk([
      { name: 'bad', data: null },
      { name: 'good', data: { user: '1' } },
    ]);
    const queue = kit.queue();

    const adoption = await queue.adopt({ ownersOf: ({ data }) => [`user:${data.user}`] });

    expect(adoption).toMatchObject({ adopted: 1, removed: 0, failed: 1 });
    await kit.owners.cancel('user:1', { wait: 'drained' });
    expect((await queue.getJobs()).map(({ name }) => name)).toEqual(['bad']);
  });
});
