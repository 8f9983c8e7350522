import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { crashPoints, crashTime } from '../../../../test/support/crash-points.js';
import { faultsOf } from '../../../../test/support/core-audit.js';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { isUnfinished, readCoreState } from '../../../../test/support/core-state.js';
import { Walker, type WalkRole } from '../../../../test/support/core-walker.js';

type Role = Exclude<WalkRole, 'timekeeper'>;

const SAMPLED = 4;
/** More than one page of a clean-up. */
const MANY_JOBS = 300;
const WORKERS_JOBS = 14;

/** A process is killed at one of its commands, or the answer to the command is lost. */
describe('a process that fails at any of its commands', () => {
  let kit: CoreKit;
  let walker: Walker | undefined;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(async () => {
    walker?.kill();
    await kit.stop();
  });

  it.each<Role>(['producer', 'worker', 'canceller'])(
    'leaves nothing half-done, and every job ends: %s',
    { timeout: crashTime(90_000) },
    async (role) => {
      const { commands } = await walk(role);
      for (const point of crashPoints(commands!, SAMPLED))
        expect({ point, faults: (await walk(role, point)).faults }).toEqual({ point, faults: [] });
    },
  );

  it.each<Role>(['producer', 'worker', 'canceller'])(
    'repeats what was not answered, with the same effect: %s',
    { timeout: crashTime(90_000) },
    async (role) => {
      const { commands, left } = await walk(role);
      const points = crashPoints(commands!, SAMPLED).map((point) => point.replace(/^\w+/, 'lost'));
      for (const point of new Set(points)) {
        const after = { point, ...(await walk(role, point)) };
        expect(after).toMatchObject({ point, faults: [], commands: expect.any(Number) });
        if (role !== 'worker') expect(after).toMatchObject({ point, left });
      }
    },
  );

  /** Returns how many commands a process sent and what it left, before anything else is done. */
  async function walk(role: Role, failPoint?: string) {
    await clear();
    const jobs = await PREPARE[role]();
    walker = await Walker.start(role, inject('storeUrl'), kit.prefix, { ...(failPoint && { failPoint }) });
    const commands = await walker.walk(jobs);
    const state = await readCoreState(kit.redis, kit.prefix);
    const left = [...state.jobs]
      .filter(([, job]) => isUnfinished(job))
      .map(([, { name, place }]) => `${name} ${place}`);
    await restart(role, jobs);
    return { commands, left: left.toSorted(), faults: faultsOf(state) };
  }

  async function clear(): Promise<void> {
    const keys = await kit.redis.keys(`${kit.prefix}*`);
    if (keys.length > 0) await kit.redis.del(keys);
  }

  const PREPARE: Record<Role, () => Promise<number>> = {
    producer: async () => 0,
    worker: addWork,
    canceller: addWhatIsCancelled,
  };

  async function addWork(): Promise<number> {
    const queue = kit.queue();
    const add = (name: string, opts = {}) => queue.add(name, {}, { owners: ['trip:1', 'user:1'], ...opts });
    await Promise.all([1, 2, 3].map(() => add('plain')));
    await add('fails once', { attempts: 2 });
    await add('fails once', { attempts: 2, backoff: 10 });
    await add('later', { delay: 20 });
    await Promise.all([1, 2, 3].map(() => add('slot', { slot: { key: 'gpu', limit: 1 } })));
    await add('dedup', { dedup: { strategy: 'skip', key: 'k' } });
    await queue.add('plain', {});
    const children = [1, 2].map((n) => ({ name: `child-${n}`, queueName: 'audio', data: {} }));
    await kit
      .flows()
      .add({ name: 'top', queueName: 'audio', data: {}, opts: { owners: ['trip:2'] }, children });
    return WORKERS_JOBS;
  }

  async function addWhatIsCancelled(): Promise<number> {
    const queue = kit.queue();
    const many = (owners: string[]) =>
      queue.addBulk(Array.from({ length: MANY_JOBS }, () => ({ name: 'x', data: {}, opts: { owners } })));
    await many(['trip:1', 'user:2']);
    await many(['user:1']);
    await queue.add('x', {}, { owners: ['user:2'], jobId: 'alone' });
    const children = [1, 2].map((n) => ({ name: `child-${n}`, queueName: 'audio', data: {} }));
    await kit
      .flows()
      .add({ name: 'top', queueName: 'audio', data: {}, opts: { owners: ['flow:1'] }, children });
    return 0;
  }

  /** What follows the death of a process: another worker, and the same canceller again. */
  async function restart(role: Role, jobs: number): Promise<void> {
    if (role === 'canceller') {
      walker = await Walker.start(role, inject('storeUrl'), kit.prefix);
      await walker.walk();
      for (const cancelId of ['c-1', 'c-3', 'c-4']) {
        expect(await kit.owners.receipt(cancelId)).toMatchObject({ cancelId, done: true });
      }
    }
    await kit.owners.cancel('cron:1');
    const ends = kit.worker(async () => undefined, { lockDuration: 5_000, stalledInterval: 250 });
    await until(async () => (await countUnfinished()) === 0, 'all jobs have ended');
    await until(async () => (await kit.owners.resume()) === 0, 'all cancels are over');
    await ends.close();
    const { owners, jobs: ended } = await readCoreState(kit.redis, kit.prefix);
    expect([...owners].filter(([, { state }]) => state === undefined)).toEqual([]);
    expect([...ended.values()].filter(({ place }) => place === 'completed').length).toBeGreaterThanOrEqual(
      jobs,
    );
  }

  async function countUnfinished(): Promise<number> {
    return [...(await readCoreState(kit.redis, kit.prefix)).jobs.values()].filter(isUnfinished).length;
  }
});
