import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDocker } from '../support/fake-docker.js';
import { Fleet } from '../support/fleet.js';
import { LeaseCaller } from '../support/leases.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { startOdd } from '../support/odd-worker.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

/** In the order in which they come; who dies after one has not begun the next. */
const OF_MAKING = ['containers/begin', 'engine/create', 'engine/start', 'containers/attach'];
const OF_ENDING = ['containers/claim', 'engine/stop', 'engine/remove', 'containers/ended'];

/** A process dies between two steps of making or ending a lease. */
describe('kill -9 in the middle of a lease', () => {
  let docker: FakeDocker;
  let fleet: Fleet;
  let leases: LeaseCaller;
  let env: NodeJS.ProcessEnv;
  beforeEach(async () => {
    docker = await FakeDocker.start();
    env = { DOCKER_HOST: docker.host, WORKER_LOCK: '1500ms', LEASE_REAP_EVERY: '2s' };
    fleet = await Fleet.start({ workers: 0, janitor: true, env });
    leases = new LeaseCaller(fleet);
  });
  afterEach(async () => {
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      await fleet.stop();
      await docker.stop();
    }
  });

  it('while they are made: each has one container in the end', async () => {
    const ids: string[] = [];
    for (const point of OF_MAKING) {
      ids.push(await leases.ask('1h', { owner: 'trip:1' }));
      await dead(doomedWorker(point), point);
    }
    const api = startOdd('api', fleet, 'fail-point', { FAIL_POINT: 'after:containers/sent', PORT: '0' });
    await fleet.untilReady(api);
    await fetch(`${api.url}/v1/leases`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ image: 'alpine', duration: '1h' }),
    }).catch(() => undefined);
    await dead(api, 'containers/sent');
    fleet.addWorker();
    const running = await until(
      async () => {
        const all = await leases.ids('running');
        return all.length === OF_MAKING.length + 1 && all;
      },
      'all are there',
      40_000,
    );
    expect(running).toEqual(expect.arrayContaining(ids));
    expect([...docker.containers.values()].map(({ name }) => name).toSorted()).toEqual(
      running.map((id) => leases.nameOf(id)).toSorted(),
    );
    expect(docker.removed).toEqual([]);
    await Promise.all(running.map((id) => leases.delete(id)));
    for (const id of running) await leases.untilState(id, 'ended', 40_000);
    expect(docker.containers.size).toBe(0);
  }, 120_000);

  it('while they are ended: each is over, and none before its container is gone', async () => {
    const worker = fleet.addWorker();
    const all = await Promise.all(OF_ENDING.map(() => leases.askRunning('1h', { owner: 'trip:1' })));
    worker.kill('SIGTERM');
    await worker.exited;
    for (const [i, point] of OF_ENDING.entries()) {
      const doomed = doomedWorker(point);
      // What another left may be its end already.
      await fleet.untilReady(doomed).catch(() => undefined);
      await leases.delete(all[i]!.id);
      await dead(doomed, point);
    }
    fleet.addWorker();
    for (const { id, containerId } of all) {
      const { endedAt } = await leases.untilState(id, 'ended', 40_000);
      const gone = docker.removed.find((one) => one.id === containerId);
      expect(Date.parse(endedAt!)).toBeGreaterThanOrEqual(gone!.removedAt!);
    }
    expect(docker.containers.size).toBe(0);
    await until(async () => (await openJobs()) === 0, 'their owner is rid of them', 20_000);
  }, 120_000);

  function doomedWorker(point: string): TestProcess {
    return startOdd('worker', fleet, 'fail-point', { ...env, FAIL_POINT: `after:${point}` });
  }

  async function dead(process: TestProcess, point: string): Promise<void> {
    await until(() => process.hasExited, `it is dead, after ${point}`, 20_000);
    expect(await process.exited).toMatchObject({ signal: 'SIGKILL' });
  }

  async function openJobs(): Promise<number> {
    const { body } = await fleet.request('GET', '/v1/owners/trip/1');
    return (body['counts'] as { jobs: number }).jobs;
  }
});
