import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { OwnerClosedError } from '../index.js';

interface Commands {
  'mooring:add'(...args: unknown[]): Promise<unknown[]>;
}

/** More than fit into one step. */
const MANY = 130;

describe('many jobs at once', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  it('are added in order, with options of their own and shared or separate owners', async () => {
    const queue = kit.queue();
    const jobs = Array.from({ length: MANY }, (_, n) => ({
      name: n % 2 ? 'odd' : 'even',
      data: { n },
      opts: {
        owners: [`photo:${n % 10}`, `album:${n}`],
        attempts: 1 + (n % 3),
        ...(n % 5 === 0 && { jobId: `own-${n}` }),
      },
    }));

    const added = await queue.addBulk(jobs);

    const stored = await Promise.all(added.map(({ id }) => queue.getJob(id!)));
    expect(stored.map((job) => ({ name: job!.name, data: job!.data }))).toEqual(
      jobs.map(({ name, data }) => ({ name, data })),
    );
    expect(stored.map((job) => job!.opts)).toMatchObject(jobs.map(({ opts }) => opts));
    expect((await queue.getJobs('prioritized', 0, MANY, true)).map(({ data }) => data.n)).toEqual(
      jobs.map((_, n) => n),
    );
    expect(await kit.owners.get('photo:3')).toMatchObject({ count: MANY / 10 });
    expect(await kit.owners.get('album:77')).toMatchObject({ count: 1 });
    expect((await kit.owners.list({ type: 'album', limit: 200 })).owners).toHaveLength(MANY);
  });

  it('each get a ticket or a refusal, and a refused one does not affect the others', async () => {
    await kit.owners.cancel('photo:2', { close: true });
    const jobs = ['photo:1', 'photo:2', 'photo:3'].map((owner) => ({
      name: 'resize',
      data: {},
      opts: { owners: [owner], jobId: `one-of-${owner.slice(6)}` },
    }));

    const [first, second, third] = await kit.queue().enqueueBulk([...jobs]);
    const [again] = await kit.queue().enqueueBulk(jobs.slice(0, 1));

    expect(first).toMatchObject({ status: 'fulfilled', value: { outcome: 'created', id: 'one-of-1' } });
    expect(second).toMatchObject({ status: 'rejected', reason: expect.any(OwnerClosedError) });
    expect(third).toMatchObject({ status: 'fulfilled', value: { outcome: 'created' } });
    expect(again).toMatchObject({ status: 'fulfilled', value: { outcome: 'existing', id: 'one-of-1' } });
    expect((await kit.owners.get('photo:1'))?.count).toBe(1);
  });

  it('keep the tickets of added jobs when others do not reach the store', async () => {
    const queue = kit.queue();
    await queue.waitUntilReady();
    const client: Commands = kit.redis as never;
    const add = client['mooring:add'].bind(client);
    let steps = 0;
    vi.spyOn(client, 'mooring:add').mockImplementation(async (...args) => {
      if ((steps += 1) === 2) throw new Error('Connection is closed.');
      return add(...args);
    });
    const jobs = Array.from({ length: MANY }, () => ({ name: 'x', data: {}, opts: { owners: ['photo:1'] } }));

    const tickets = await queue.enqueueBulk(jobs);

    const refused = tickets.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(50);
    expect(refused).toEqual(tickets.slice(50, 100));
    expect(refused[0]).toMatchObject({ reason: { message: 'Connection is closed.' } });
    expect((await kit.owners.get('photo:1'))?.count).toBe(MANY - 50);
    await expect(queue.addBulk(jobs.slice(0, 1))).resolves.toHaveLength(1);
    steps = 1;
    await expect(queue.addBulk(jobs)).rejects.toThrow('Connection is closed.');
  });

  it('may have owners or none in one call', async () => {
    const queue = kit.queue();

    const added = await queue.addBulk([
      { name: 'plain', data: 1 },
      { name: 'owned', data: 2, opts: { owners: ['photo:1'] } },
      { name: 'plain', data: 3 },
    ]);

    expect(await Promise.all(added.map(async ({ id }) => (await queue.getJob(id!))?.data))).toEqual([
      1, 2, 3,
    ]);
    expect((await kit.owners.get('photo:1'))?.count).toBe(1);
  });

  it('may name an owner twice without an effect', async () => {
    const job = await kit.queue().add('resize', {}, { owners: ['photo:1', 'photo:1'] });

    expect((await kit.queue().getJob(job.id!))?.opts.owners).toEqual(['photo:1']);
    kit.worker(async () => 1);
    await until(async () => (await kit.owners.get('photo:1')) === undefined, 'its job has ended');
  });

  it('are indexed once when a command is sent twice', async () => {
    const queue = kit.queue();
    await queue.waitUntilReady();
    const client: Commands = kit.redis as never;
    const add = vi.spyOn(client, 'mooring:add');
    await queue.add('resize', {}, { owners: ['photo:1'] });
    kit.worker(async () => 1);
    await until(async () => (await queue.getCompletedCount()) === 1, 'it has ended');

    const [answer] = await client['mooring:add'](...add.mock.calls[0]!);

    expect(answer).toEqual(['existing', expect.any(String)]);
    expect(await kit.owners.get('photo:1')).toBeUndefined();
    expect(await queue.getJobCounts('prioritized', 'completed')).toEqual({ prioritized: 0, completed: 1 });
  });
});
