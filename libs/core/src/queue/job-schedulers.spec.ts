import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import type { RefusedJob } from '../worker/worker-events.js';

describe('a job scheduler with owners', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const every = { every: 60_000 };

  async function nothingOfIt(): Promise<void> {
    await kit.owners.resume();
    expect(await kit.queue().getJobSchedulers()).toEqual([]);
    expect(await kit.queue().getJobCountByTypes('delayed', 'prioritized', 'wait', 'active')).toBe(0);
    await kit.nothingLeft();
  }

  it('ends with its owner while its turn waits for a worker', async () => {
    await kit.queue().upsertJobScheduler('tick', every, { name: 'tick', opts: { owners: ['s:1'] } });

    const receipt = await kit.owners.cancel('s:1', { close: false });

    expect(receipt).toMatchObject({ removed: 1, done: true });
    await nothingOfIt();
  });

  it('ends when its turn is refused at the gate', async () => {
    const queue = kit.queue();
    const owners = ['s:1'];
    await queue.addBulk(Array.from({ length: 300 }, () => ({ name: 'x', data: {}, opts: { owners } })));
    await queue.upsertJobScheduler('tick', every, { name: 'tick', opts: { owners } });
    // Moves the epoch of the owner without a clean-up: waiting jobs are refused at the gate.
    const { epoch } = (await kit.owners.get('s:1'))!;
    await kit.redis.hset(`${kit.prefix}~owner~s:1`, 'epoch', `0${epoch}`);
    kit.worker(() => Promise.reject(new Error('It ran.')));

    await until(async () => (await queue.count()) === 0, 'all were refused');

    await nothingOfIt();
  });

  it('ends when its owner is cancelled between the gate and the planning of the next turn', async () => {
    const ran: string[] = [];
    const events: string[] = [];
    const worker = kit.worker(async (job) => ran.push(job.id!), { autorun: false });
    worker.on('cancelled', ({ name }) => events.push(name));
    const plan = worker['nextJobFromJobData'].bind(worker);
    worker['nextJobFromJobData'] = async (...args) => {
      if (args[0]) await kit.owners.cancel('s:1', { close: false });
      return plan(...args);
    };
    await kit.queue().upsertJobScheduler('tick', every, { name: 'tick', opts: { owners: ['s:1'] } });

    void worker.run();

    await until(() => events.length > 0, 'its turn was ended');
    expect(ran).toEqual([]);
    await nothingOfIt();
  });

  it('stays when an earlier turn with another owner is cancelled', async () => {
    const queue = kit.queue();
    const worker = kit.worker(() => Promise.reject(new Error('not today')));
    await queue.upsertJobScheduler('tick', every, { name: 'tick', opts: { owners: ['s:1'] } });
    await until(async () => (await queue.getFailedCount()) === 1, 'its turn failed');
    await worker.close();
    await queue.upsertJobScheduler('tick', { every: 90_000 }, { name: 'tick', opts: { owners: ['s:2'] } });
    await (await queue.getFailed())[0]!.retry();

    const receipt = await kit.owners.cancel('s:1', { close: false });

    expect(receipt).toMatchObject({ removed: 1, done: true });
    expect((await queue.getJobSchedulers()).map(({ every: ms }) => ms)).toEqual([90_000]);
    await kit.owners.cancel('s:2', { close: false });
    await nothingOfIt();
  });

  it('skips a turn that starts too late, and plans the next one', async () => {
    const queue = kit.queue();
    const opts = { owners: ['s:1'], expiresIn: 100 };
    const first = await queue.upsertJobScheduler('tick', { every: 300 }, { name: 'tick', opts });
    await until(() => Date.now() > first.timestamp + 150, 'its time is over');
    const ran: string[] = [];
    const refused: RefusedJob[] = [];
    const worker = kit.worker(async (job) => ran.push(job.id!));
    worker.on('refused', (refusal) => refused.push(refusal));

    await until(() => ran.length === 2, 'the turns after it run');
    await worker.pause();

    expect(refused[0]).toEqual({ id: first.id, reason: 'expired' });
    expect(refused.filter(({ id }) => ran.includes(id))).toEqual([]);
    const [next] = await queue.getDelayed();
    const mark = await kit.redis.hget(`${kit.prefix}:audio:${next!.id}`, 'opts');
    const startBy = Number(/"mooring":"[^|]*\|[^|]*\|(\d+)/.exec(mark!)![1]);
    // Counted from the time it is due, by two clocks of one machine.
    expect(startBy - (next!.timestamp + next!.delay + 100)).toBeLessThan(50);
    await kit.owners.cancel('s:1', { wait: 'drained', close: false });
    await nothingOfIt();
  });

  it('skips its last turn when that starts too late', async () => {
    const queue = kit.queue();
    const opts = { owners: ['s:1'], expiresIn: 1 };
    const last = await queue.upsertJobScheduler('tick', { ...every, limit: 1 }, { name: 'tick', opts });
    await until(() => Date.now() > last.timestamp + 5, 'its time is over');
    const refused: RefusedJob[] = [];
    const worker = kit.worker(() => Promise.reject(new Error('It ran.')));
    worker.on('refused', (refusal) => refused.push(refusal));

    await until(() => refused.length > 0, 'it was refused');

    expect(refused).toEqual([{ id: last.id, reason: 'expired' }]);
    expect(await queue.getFailedCount()).toBe(0);
    await kit.nothingLeft();
  });

  it('ends when a worker finds that the owner of its plain turns is closed', async () => {
    const plain = kit.plainQueue();
    await plain.upsertJobScheduler('tick', { every: 60_000 }, { name: 'tick', data: { site: 1 } });
    await kit.owners.cancel('s:1');
    const refused: RefusedJob[] = [];
    const worker = kit.worker(() => Promise.reject(new Error('It ran.')), {
      ownersOf: ({ data }) => [`s:${data.site}`],
    });
    worker.on('refused', (refusal) => refused.push(refusal));

    await until(() => refused.length > 0, 'its turn was refused');

    expect(refused).toMatchObject([{ reason: 'cancelled' }]);
    expect(await plain.getJobSchedulers()).toEqual([]);
    expect(await plain.getJobCountByTypes('delayed', 'wait', 'failed')).toBe(0);
  });
});
