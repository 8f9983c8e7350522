import type { Job } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { faultsOf } from '../../../../test/support/core-audit.js';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { readCoreState } from '../../../../test/support/core-state.js';
import { TestStore } from '../../../../test/support/store.js';

const LOCK_MS = 900;
const OUT_OF_MEMORY = /^(OOM|ERR .*OOM)|out of memory|maxmemory/i;

/** Commands that end a job or renew a lease work in a full store; commands that add a job are refused. */
describe('while the store is full', () => {
  let store: TestStore;
  let admin: Redis;
  let kit: CoreKit;
  const ends = new Map<string, () => void>();

  beforeEach(async () => {
    store = await TestStore.start('--maxmemory-policy', 'noeviction');
    admin = new Redis(store.url);
    kit = new CoreKit(store.url);
  });

  afterEach(async () => {
    await admin.config('SET', 'maxmemory', 0);
    // BullMQ's own stalled checks are refused.
    expect(kit.errors.splice(0).filter(({ message }) => !OUT_OF_MEMORY.test(message))).toEqual([]);
    await kit.stop();
    admin.disconnect();
    await store.stop();
  });

  const untilEnded = (job: Job, _token?: string, signal?: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      ends.set(job.name, () => resolve('done'));
      signal!.addEventListener('abort', () => reject(new Error('stopped')));
    });

  async function fill(): Promise<void> {
    await admin.config('SET', 'maxmemory', 1);
    await expect(admin.set('name', 'ada')).rejects.toThrow(/^OOM/);
  }

  /** `allow-oom` lets a script run in a full store. */
  async function takesFlags(): Promise<boolean> {
    return !/^redis_version:[0-6]\./m.test(await admin.info('server'));
  }

  async function faults(): Promise<string[]> {
    return faultsOf(await readCoreState(admin, kit.prefix));
  }

  it('rejects a new job with a clear error and writes nothing', async () => {
    const queue = kit.queue();
    const opts = { owners: ['track:1'], jobId: 'first' };
    await queue.add('first', {}, { ...opts, dedup: { strategy: 'replace', key: 'k' }, delay: 60_000 });
    await fill();
    const keys = await admin.dbsize();

    for (const more of [
      {},
      { delay: 1_000, slot: { key: 'gpu', limit: 1 } },
      ...(['skip', 'replace', 'coalesce'] as const).map((strategy) => ({ dedup: { strategy, key: 'k' } })),
    ]) {
      const refused = queue.add('x', {}, { owners: ['track:1'], ...more });
      await expect(refused).rejects.toMatchObject({ code: 'STORE_FULL' });
    }
    const bulk = [1, 2].map(() => ({ name: 'x', data: {}, opts: { owners: ['track:2'] } }));
    await expect(queue.addBulk(bulk)).rejects.toMatchObject({ code: 'STORE_FULL' });
    const children = [{ name: 'child', queueName: 'audio', data: {} }];
    const flow = { name: 'top', queueName: 'audio', data: {}, opts: { owners: ['track:2'] }, children };
    await expect(kit.flows().add(flow)).rejects.toMatchObject({ code: 'STORE_FULL' });

    expect(await admin.dbsize()).toBe(keys);
    expect(await faults()).toEqual([]);
    expect(await kit.owners.get('track:1')).toMatchObject({ count: 1 });
  });

  it('runs, keeps and ends existing jobs, and wakes those that wait for a slot', async ({ skip }) => {
    skip(!(await takesFlags()), 'before 7.0 a full store runs no script that writes');
    const queue = kit.queue();
    const slot = { key: 'gpu', limit: 1 };
    await queue.add('holder', {}, { owners: ['track:1'], slot });
    await queue.add('waiter', {}, { owners: ['track:1'], slot });
    const worker = kit.worker(untilEnded, { lockDuration: LOCK_MS, lockRenewTime: LOCK_MS / 3 });
    await until(async () => (await queue.getDelayedCount()) === 1, 'one waits for the slot');
    await queue.add('later', {}, { owners: ['track:2'] });
    let renewals = 0;
    worker.on('locksRenewed', () => (renewals += 1));
    await fill();

    await until(() => renewals >= 6, 'a lock would have run out twice');
    ends.get('holder')!();
    await until(() => ends.has('waiter') && ends.has('later'), 'the others run');
    ends.get('waiter')!();
    ends.get('later')!();

    await until(async () => (await queue.getCompletedCount()) === 3, 'all have completed');
    expect(await faults()).toEqual([]);
    await kit.nothingLeft();
  });

  it('removes waiting jobs of a cancel, stops runs, and finishes the clean-up of a killed process', async ({
    skip,
  }) => {
    skip(!(await takesFlags()), 'before 7.0 a full store runs no script that writes');
    const queue = kit.queue();
    kit.worker(untilEnded, { lockDuration: LOCK_MS });
    await queue.add('runs', {}, { owners: ['track:1'] });
    await until(() => ends.has('runs'), 'it runs');
    await queue.add('later', {}, { owners: ['track:1', 'user:1'], delay: 60_000 });
    await queue.add('alone', {}, { owners: ['user:1'], delay: 60_000, jobId: 'alone' });
    await queue.add('other', {}, { owners: ['user:2'], delay: 60_000 });
    await kit.cancelAndDie('user:2');
    await fill();

    const receipt = await kit.owners.cancel('track:1', { wait: 'drained', waitFor: '5s' });
    await kit.owners.cancelJob('audio', 'alone');
    await until(async () => (await kit.owners.resume()) === 0, 'all cancels are over');

    expect(receipt).toMatchObject({ removed: 1, aborted: 1, acknowledged: 1, done: true });
    expect(await queue.getJobCountByTypes('active', 'delayed', 'wait', 'prioritized', 'failed')).toBe(0);
    expect(await faults()).toEqual([]);
    await admin.config('SET', 'maxmemory', 0);
    await queue.add('room', {}, { owners: ['track:3'] });
    await until(() => ends.has('room'), 'it runs');
    ends.get('room')!();
    await until(async () => (await queue.getCompletedCount()) === 1, 'it has completed');
  });
});
