import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const MAX = 20;
const RUNNING = 5;

/** The count of a queue that limits it is our own; a process that dies between it and the queue leaves it wrong. */
describe('the count of a queue', () => {
  let fleet: Fleet;
  let redis: Redis;
  let queue: Queue;
  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'));
    const env = { MAX_WAITING: String(MAX), WORKER_LOCK: '4s', WORKER_CONCURRENCY: String(RUNNING) };
    fleet = await Fleet.start({ env: { ...env, SHUTDOWN_TIMEOUT: '2s' } });
    queue = new Queue('probe', { connection: { url: inject('storeUrl') }, prefix: `{${fleet.prefix}}` });
  });
  afterEach(async () => {
    await fleet.stop();
    await queue.close();
    await redis.quit();
  });

  const counted = async (): Promise<number> => Number(await redis.hget(`${fleet.prefix}:{queue:probe}`, 'n'));
  const ask = (): Promise<Answer> =>
    fleet.request('POST', '/v1/jobs', { kind: 'probe', owners: ['site:1'], payload: { ms: 3_600_000 } });
  const drift = async (): Promise<number> => (await counted()) - (await queue.count());

  async function startJanitor(): Promise<void> {
    const janitor = TestProcess.app('janitor', {
      REDIS_URL: fleet.storeUrl,
      MOORING_PREFIX: fleet.prefix,
      CENSUS_EVERY: '100ms',
      LOG_FORMAT: 'json',
    });
    fleet.processes.push(janitor);
    await fleet.untilReady(janitor);
  }

  it('is right again after a worker was killed, and so is the limit', async () => {
    for (let i = 0; i < RUNNING; i += 1) await ask();
    await until(async () => (await queue.getActiveCount()) === RUNNING && (await counted()) === 0, 'all run');
    for (let i = 0; i < MAX; i += 1) expect((await ask()).status).toBe(201);
    expect((await ask()).status).toBe(429);

    const [victim] = fleet.workers;
    victim!.kill('SIGKILL');
    await fleet.untilReady(fleet.addWorker());
    await until(
      async () => (await queue.getActiveCount()) === RUNNING && (await drift()) !== 0,
      'it is wrong',
    );
    await startJanitor();

    await until(async () => (await drift()) === 0, 'it is right');
    expect(await counted()).toBe(MAX);
    expect((await ask()).status).toBe(429);
    const mended = await until(() => {
      const said = fleet.processes.flatMap((process) => process.facts());
      return said.find(({ event }) => event === 'depth.mended');
    }, 'the janitor says so');
    expect(mended).toMatchObject({ queue: 'probe', by: RUNNING });
  });

  it('that is too high is lowered, by one of several janitors only', async () => {
    for (let i = 0; i < RUNNING; i += 1) await ask();
    await until(async () => (await queue.getActiveCount()) === RUNNING && (await counted()) === 0, 'all run');
    await redis.hincrby(`${fleet.prefix}:{queue:probe}`, 'n', MAX);
    expect((await ask()).status).toBe(429);

    await Promise.all([startJanitor(), startJanitor(), startJanitor()]);
    await until(async () => (await drift()) === 0, 'it is right');
    expect((await ask()).status).toBe(201);
    expect([await counted(), await queue.count()]).toEqual([1, 1]);
  });
});
