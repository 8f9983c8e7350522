import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

describe('MooredQueue', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  it('returns a BullMQ job with the data that was added', async () => {
    const job = await kit.queue().add('transcode', { track: 1 }, { owners: ['track:1'] });

    const seen = await kit.plainQueue().getJob(job.id!);
    expect(job.data).toEqual({ track: 1 });
    expect(seen?.data).toEqual({ track: 1 });
    expect(await kit.owners.get('track:1')).toMatchObject({ state: 'open', count: 1 });
  });

  it('leaves jobs without owners to BullMQ', async () => {
    const job = await kit.queue().add('transcode', {});

    expect(job.id).toBe('1');
    expect(await kit.ownerKeys()).toEqual([]);
  });

  it('treats an empty jobId as none', async () => {
    const job = await kit.queue().add('transcode', {}, { owners: ['track:1'], jobId: '' });

    expect(job.id).toMatch(/./);
    expect(await kit.plainQueue().getJob(job.id!)).toMatchObject({ name: 'transcode' });
  });

  it("refuses a child of a parent that does not exist, with BullMQ's message", async () => {
    const parent = { id: 'missing', queue: `${kit.prefix}:audio` };

    const added = kit.queue().add('child', {}, { owners: ['track:1'], parent });

    await expect(added).rejects.toMatchObject({
      code: -5,
      message: `Missing key for parent job ${kit.prefix}:audio:missing. addJob`,
    });
    expect(await kit.ownerKeys()).toEqual([]);
  });

  it('makes one job of fifty simultaneous calls with one key', async () => {
    const queue = kit.queue();
    const owners = ['site:1'];
    const enqueue = () => queue.enqueue('build', {}, { owners, dedup: { strategy: 'skip', key: 'nightly' } });

    const tickets = await Promise.all(Array.from({ length: 50 }, enqueue));

    expect(tickets.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    expect(new Set(tickets.map(({ id }) => id)).size).toBe(1);
    expect(await queue.count()).toBe(1);
  });

  it('replaces the pending job by a new one', async () => {
    const queue = kit.queue();
    const opts = { owners: ['site:1'], dedup: { strategy: 'replace', key: 'k' } } as const;
    const first = await queue.enqueue('build', { v: 1 }, opts);

    const second = await queue.enqueue('build', { v: 2 }, opts);

    expect(second).toMatchObject({ outcome: 'replaced', replaced: first.id });
    expect(await queue.getJob(first.id)).toBeUndefined();
    expect((await queue.getJob(second.id))?.data).toEqual({ v: 2 });
    expect((await kit.owners.get('site:1'))?.count).toBe(1);
  });

  it('gives the pending job the data of the newest trigger', async () => {
    const queue = kit.queue();
    const opts = { owners: ['site:1'], delay: 60_000, dedup: { strategy: 'coalesce', key: 'k' } } as const;
    const first = await queue.enqueue('build', { v: 1 }, opts);

    const second = await queue.enqueue('build', { v: 2 }, opts);

    expect(second).toEqual({ outcome: 'coalesced', id: first.id });
    expect((await queue.getJob(first.id))?.data).toEqual({ v: 2 });
  });

  it('starts a coalesced job after its longest wait, however often it is triggered', async () => {
    const queue = kit.queue();
    const dedup = { strategy: 'coalesce', key: 'k', longestWait: '10s' } as const;
    const opts = { owners: ['site:1'], delay: 60_000, dedup };
    const { id } = await queue.enqueue('build', {}, opts);

    await queue.enqueue('build', {}, opts);

    expect((await queue.getJob(id))?.delay).toBeLessThanOrEqual(10_000);
  });

  it('separates jobs of other owners with the same key', async () => {
    const queue = kit.queue();
    const dedup = { strategy: 'skip', key: 'k' } as const;

    const tickets = await Promise.all(
      [['site:1'], ['site:2'], ['site:1', 'user:1'], ['site:1', 'user:2']].map((owners) =>
        queue.enqueue('build', {}, { owners, dedup }),
      ),
    );

    expect(tickets.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created', 'created']);
  });

  it('adds one job for a jobId that a caller uses twice', async () => {
    const queue = kit.queue();
    const opts = { owners: ['track:1'], jobId: 'order-7' };

    const tickets = [await queue.enqueue('x', {}, opts), await queue.enqueue('x', {}, opts)];

    expect(tickets).toEqual([
      { outcome: 'created', id: 'order-7' },
      { outcome: 'existing', id: 'order-7' },
    ]);
    expect(await queue.count()).toBe(1);
  });

  it('refuses a job of a closed owner and writes nothing', async () => {
    const queue = kit.queue();
    await kit.owners.cancel('track:1');

    await expect(queue.add('x', {}, { owners: ['user:2', 'track:1'] })).rejects.toMatchObject({
      code: 'OWNER_CLOSED',
      owner: 'track:1',
    });

    expect(await queue.count()).toBe(0);
    expect(await kit.owners.get('user:2')).toBeUndefined();
  });

  it.each([
    ['no owner', { owners: [] }],
    ['five owners', { owners: ['a:1', 'a:2', 'a:3', 'a:4', 'a:5'] }],
    ['an owner without a type', { owners: ['42'] }],
    ['an invalid time', { owners: ['a:1'], expiresIn: '5 minutes' }],
    ['a slot without a limit', { owners: ['a:1'], slot: { key: 'gpu' } as never }],
    ['a slot key with control characters', { owners: ['a:1'], slot: { key: 'gpu\u0000x', limit: 1 } }],
    ['an unknown strategy', { owners: ['a:1'], dedup: { strategy: 'merge' as never, key: 'k' } }],
    ["BullMQ's own deduplication with owners", { owners: ['a:1'], deduplication: { id: 'x' } }],
    ['a slot without owners', { slot: { key: 'gpu', limit: 1 } }],
    ["a key of BullMQ's as id", { owners: ['a:1'], jobId: 'wait' }],
  ])('refuses %s before anything is written', async (_, opts) => {
    const queue = kit.queue();

    await expect(queue.add('x', {}, opts)).rejects.toMatchObject({ code: 'INVALID' });

    expect(await queue.count()).toBe(0);
    expect(await kit.ownerKeys()).toEqual([]);
  });

  it('keeps the order of jobs that one step delays for their slot', async () => {
    const [queue, worker] = [kit.queue(), kit.worker(null, { autorun: false })];
    const ids = ['e', 'd', 'c', 'b', 'a'];
    const slot = { key: 'gpu', limit: 1 };
    for (const jobId of ids) await queue.add('x', {}, { owners: ['track:1'], slot, jobId });

    const holder = await worker.getNextJob('t', { block: false });
    await worker.getNextJob('u', { block: false });

    const line = await kit.redis.zrange(`${kit.prefix}~line~gpu`, '0', '-1');
    expect([holder.id, ...line]).toEqual(['e', ...ids.slice(1).map((id) => `audio:${id}`)]);
  });

  it('counts only jobs against the limit of an owner that was cancelled and reopened', async () => {
    const queue = kit.queue('audio', { limits: { perOwner: 2 } });
    await kit.owners.cancel('track:1');
    await kit.owners.reopen('track:1');
    await queue.add('x', {}, { owners: ['track:1'] });
    await queue.add('x', {}, { owners: ['track:1'] });

    await expect(queue.add('x', {}, { owners: ['track:1'] })).rejects.toMatchObject({ code: 'OWNER_FULL' });
  });

  it('enforces the limits of an owner and of a queue exactly under parallel producers', async () => {
    const queue = kit.queue('audio', { limits: { perOwner: 7, perQueue: 12 } });
    const add = (owner: string) =>
      queue.enqueue('x', {}, { owners: [owner] }).then(
        () => 'created',
        (error: { code: string }) => error.code,
      );

    const mine = await Promise.all(Array.from({ length: 40 }, () => add('track:1')));
    const others = await Promise.all(Array.from({ length: 40 }, (_, i) => add(`track:${i + 2}`)));

    expect(mine.filter((outcome) => outcome === 'created')).toHaveLength(7);
    expect(new Set(mine)).toEqual(new Set(['created', 'OWNER_FULL']));
    expect(others.filter((outcome) => outcome === 'created')).toHaveLength(5);
    expect(new Set(others)).toEqual(new Set(['created', 'QUEUE_FULL']));
  });

  it('removes from the index what BullMQ removes', async () => {
    const queue = kit.queue();
    const job = await queue.add('x', {}, { owners: ['s:1'] });
    await queue.add('x', {}, { owners: ['s:1', 's:2'], delay: 60_000 });
    await queue.add('x', {}, { owners: ['s:3'] });

    await job.remove();
    expect((await kit.owners.get('s:1'))?.count).toBe(1);
    await queue.clean(0, 100, 'delayed');
    expect(await kit.owners.get('s:2')).toBeUndefined();
    await queue.add('x', {}, { owners: ['s:4'] });
    await queue.drain();
    await kit.nothingLeft();
  });

  it('removes the jobs of an obliterated queue from the index', async () => {
    const queue = kit.queue();
    await queue.addBulk(
      Array.from({ length: 30 }, (_, i) => ({ name: 'x', data: {}, opts: { owners: [`s:${i % 3}`] } })),
    );

    await queue.obliterate();

    expect(await kit.ownerKeys()).toEqual([]);
  });

  it('ends a scheduler with its owner', async () => {
    const queue = kit.queue();
    let turns = 0;
    kit.worker(async () => {
      turns += 1;
    });
    await queue.upsertJobScheduler('tick', { every: 50 }, { name: 'tick', opts: { owners: ['s:1'] } });
    await until(() => turns >= 3, 'three turns');

    await kit.owners.cancel('s:1', { wait: 'drained' });

    expect(await queue.getJobSchedulers()).toEqual([]);
    expect(await queue.getJobCountByTypes('delayed', 'prioritized', 'wait', 'active')).toBe(0);
  });

  it('keeps the record of an owner whose only job is the turn of a scheduler that is replaced', async () => {
    const queue = kit.queue();
    const template = { name: 'tick', opts: { owners: ['s:1'] } };
    await queue.upsertJobScheduler('tick', { every: 60_000 }, template);

    await queue.upsertJobScheduler('tick', { every: 50_000 }, template);

    expect(await kit.owners.list()).toMatchObject({ owners: [{ owner: 's:1', count: 1 }] });
    await kit.owners.cancel('s:1', { wait: 'drained' });
    expect(await queue.getJobSchedulersCount()).toBe(0);
  });

  it('removes the turn of a scheduler from the index when the scheduler is replaced by one without owners', async () => {
    const queue = kit.queue();
    await queue.upsertJobScheduler('tick', { every: 60_000 }, { name: 'tick', opts: { owners: ['s:1'] } });

    await queue.upsertJobScheduler('tick', { every: 50_000 }, { name: 'tick' });

    expect(await kit.owners.get('s:1')).toBeUndefined();
    expect(await queue.getJobSchedulersCount()).toBe(1);
  });

  it('gives jobs without owners those that ownersOf names', async () => {
    const queue = kit.queue('audio', {
      ownersOf: ({ name, data }) => (name === 'other' ? [] : [`track:${data.track}`]),
    });
    const data = { track: 1 };

    const job = await queue.add('x', data);
    await queue.addBulk([
      { name: 'x', data },
      { name: 'x', data, opts: { owners: ['user:1'] } },
    ]);
    const ticket = await queue.enqueue('x', data, { dedup: { strategy: 'skip', key: 'k' } });
    await queue.upsertJobScheduler('tick', { every: 60_000 }, { name: 'tick', data });
    const other = await queue.add('other', data);

    expect(job.opts.owners).toEqual(['track:1']);
    expect(ticket.outcome).toBe('created');
    expect(other.opts.owners).toBeUndefined();
    expect((await kit.owners.get('track:1'))?.count).toBe(4);
    expect((await kit.owners.get('user:1'))?.count).toBe(1);
    await kit.owners.cancel('track:1', { close: false });
    expect(await queue.getJobSchedulers()).toEqual([]);
    expect(await queue.count()).toBe(2);
    await queue.drain();
    await kit.nothingLeft();
  });
});
