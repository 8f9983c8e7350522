import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { faultsOf } from '../../../../test/support/core-audit.js';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { isUnfinished, readCoreState } from '../../../../test/support/core-state.js';
import { Walker, type WalkRole } from '../../../../test/support/core-walker.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const JOBS = 8;

/** All promises about time refer to the store's clock. */
describe.each([HOUR_MS, -HOUR_MS])('a process whose clock is %d ms off', (clockShiftMs) => {
  let kit: CoreKit;
  let walker: Walker | undefined;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(async () => {
    walker?.kill();
    await kit.stop();
  });

  async function walk(role: WalkRole, jobs = 0): Promise<void> {
    walker = await Walker.start(role, inject('storeUrl'), kit.prefix, { clockShiftMs });
    expect(await walker.walk(jobs)).toBeGreaterThan(0);
  }

  async function faults(): Promise<string[]> {
    return faultsOf(await readCoreState(kit.redis, kit.prefix));
  }

  it('produces jobs that expire and wait at the right times', async () => {
    await walk('timekeeper');
    const before = await readCoreState(kit.redis, kit.prefix);
    const startBy = [...before.jobs.values()].find(({ name }) => name === 'in time')!.mark!.startBy;
    expect(Math.abs(Number(startBy) - before.at - 10 * MINUTE_MS)).toBeLessThan(MINUTE_MS);
    const [coalesced] = await kit.plainQueue().getDelayed();
    const due = await kit.redis.zscore(`${kit.prefix}:audio:delayed`, coalesced!.id!);
    expect(Math.abs(Number(due) / 4_096 - before.at - 5 * MINUTE_MS)).toBeLessThan(MINUTE_MS);

    const ran: string[] = [];
    kit.worker(async ({ name }) => ran.push(name));
    await until(async () => (await kit.owners.history('trip:2')).length === 1, 'one has expired');
    await until(() => ran.length === 1, 'the other runs');
    expect(ran).toEqual(['in time']);
    expect(await faults()).toEqual([]);
  });

  it('runs jobs with slots, deduplication keys and deadlines', async () => {
    const queue = kit.queue();
    const add = (name: string, opts = {}) => queue.add(name, {}, { owners: ['trip:1', 'user:1'], ...opts });
    await Promise.all([1, 2, 3].map(() => add('slot', { slot: { key: 'gpu', limit: 1 } })));
    await Promise.all([1, 2].map(() => add('in time', { expiresIn: '10m' })));
    await add('fails once', { attempts: 2 });
    await add('fails once', { attempts: 2, backoff: 10 });
    await add('key', { dedup: { strategy: 'skip', key: 'k' } });
    await add('out of time', { expiresIn: 1 });

    await walk('worker', JOBS);

    const { jobs } = await readCoreState(kit.redis, kit.prefix);
    expect([...jobs.values()].filter(({ place }) => place === 'completed')).toHaveLength(JOBS);
    expect(jobs.size).toBe(JOBS);
    await kit.nothingLeft();
  });

  it('cancels earlier jobs and no later ones', async () => {
    const queue = kit.queue();
    const add = (owner: string, jobId?: string) =>
      queue.add('x', {}, { owners: [owner], ...(jobId && { jobId }) });
    await Promise.all([add('trip:1'), add('user:1'), add('user:2', 'alone'), add('flow:1')]);

    await walk('canceller');
    expect(await queue.count()).toBe(0);
    await Promise.all([add('trip:1'), add('user:1'), add('flow:1')]);
    await kit.owners.resume();

    const unfinished = [...(await readCoreState(kit.redis, kit.prefix)).jobs.values()].filter(isUnfinished);
    expect(unfinished).toHaveLength(3);
    expect(await faults()).toEqual([]);
  });
});
