import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { until } from '../support/until.js';

const MAX = 20;
const RUNNING = 5;

describe('the limit of a queue', () => {
  let fleet: Fleet;
  let queue: Queue;
  beforeEach(async () => {
    const env = { MAX_WAITING: String(MAX), WORKER_LOCK: '4s', WORKER_CONCURRENCY: String(RUNNING) };
    fleet = await Fleet.start({ env: { ...env, SHUTDOWN_TIMEOUT: '2s' } });
    queue = new Queue('probe', { connection: { url: inject('storeUrl') }, prefix: `{${fleet.prefix}}` });
  });
  afterEach(async () => {
    await fleet.stop();
    await queue.close();
  });

  const ask = (): Promise<Answer> =>
    fleet.request('POST', '/v1/jobs', { kind: 'probe', owners: ['site:1'], payload: { ms: 3_600_000 } });
  const allRun = (): Promise<true> =>
    until(async () => (await queue.getActiveCount()) === RUNNING, 'the workers are busy');

  it('is the same after a worker is killed, whose jobs wait again', async () => {
    for (let i = 0; i < RUNNING; i += 1) await ask();
    await allRun();
    for (let i = 0; i < MAX; i += 1) expect((await ask()).status).toBe(201);
    expect((await ask()).status).toBe(429);

    const [victim] = fleet.workers;
    victim!.kill('SIGKILL');
    await until(async () => (await victim!.exited).signal === 'SIGKILL', 'it is dead');
    await fleet.untilReady(fleet.addWorker());
    const begun = (): number => fleet.workers[1]!.facts().filter(({ event }) => event === 'job.began').length;
    await until(() => begun() === RUNNING, 'another one has taken its place');

    await until(async () => (await queue.count()) === MAX, 'as many wait as before');
    expect((await ask()).status).toBe(429);
    const [id] = (await queue.getPrioritized(0, 0)).map((job) => job.id);
    await fleet.request('DELETE', `/v1/jobs/${id}`);
    expect((await ask()).status).toBe(201);
    expect((await ask()).status).toBe(429);
  });
});
