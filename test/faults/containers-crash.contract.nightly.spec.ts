import type { Container } from '#workloads/containers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDocker } from '../support/fake-docker.js';
import { Fleet } from '../support/fleet.js';
import {
  dockerRuntime,
  leaseRuntimes,
  type LeaseRuntime,
  type NamedRuntime,
} from '../support/lease-runtimes.js';
import { LeaseCaller } from '../support/leases.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { startOdd } from '../support/odd-worker.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

/** In order of occurrence: a process that is killed after one point has not begun the next. */
const OF_MAKING = ['containers/begin', 'engine/create', 'engine/start', 'containers/attach'];
const OF_ENDING = ['containers/claim', 'engine/stop', 'engine/remove', 'containers/ended'];

const NO_LIMIT = new AbortController().signal;
/** Real engines, or the process runtime and a fake daemon. */
const RUNTIMES: NamedRuntime[] = process.env['TEST_DOCKER_HOSTS']
  ? leaseRuntimes()
  : [...leaseRuntimes(), { name: 'a fake docker', start: fakeRuntime }];

/** A process is killed between two steps of creating or ending a container. */
describe.each(RUNTIMES)('kill -9 in the middle of a lease on $name', ({ start }) => {
  let runtime: LeaseRuntime;
  let fleet: Fleet;
  let leases: LeaseCaller;
  let env: NodeJS.ProcessEnv;
  beforeEach(async () => {
    runtime = await start();
    env = { ...runtime.env, WORKER_LOCK: '1500ms', LEASE_REAP_EVERY: '2s' };
    fleet = await Fleet.start({ workers: 0, janitor: true, env });
    leases = new LeaseCaller(fleet, 'busybox');
  });
  afterEach(async () => {
    try {
      await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
    } finally {
      await fleet.stop();
      await runtime.close();
    }
  });

  it('during creation: each lease has exactly one container in the end', async () => {
    const ids: string[] = [];
    const points = pointsOf(OF_MAKING);
    for (const point of points) {
      ids.push(await leases.ask('1h', { owner: 'trip:1' }));
      await dead(crashingWorker(point), point);
    }
    const api = startOdd('api', fleet, 'fail-point', { FAIL_POINT: 'after:containers/sent', PORT: '0' });
    await fleet.untilReady(api);
    await fetch(`${api.url}/v1/leases`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ image: 'busybox', duration: '1h' }),
    }).catch(() => undefined);
    await dead(api, 'containers/sent');
    fleet.addWorker();
    const running = await until(
      async () => {
        const all = await leases.ids('running');
        return all.length === points.length + 1 && all;
      },
      'all are there',
      40_000,
    );
    expect(running).toEqual(expect.arrayContaining(ids));
    const made = await containers();
    expect(made.map(({ name }) => name).toSorted()).toEqual(
      running.map((id) => leases.nameOf(id)).toSorted(),
    );
    expect(made.filter((one) => !one.running)).toEqual([]);
    expect(runtime.answered ?? []).toEqual([]);
    await Promise.all(running.map((id) => leases.delete(id)));
    for (const id of running) await leases.untilState(id, 'ended', 40_000);
    expect(await containers()).toEqual([]);
  }, 120_000);

  it('during their end: each lease ends, and none before its container is gone', async () => {
    const worker = fleet.addWorker();
    const points = pointsOf(OF_ENDING);
    const all = await Promise.all(points.map(() => leases.askRunning('1h', { owner: 'trip:1' })));
    worker.kill('SIGTERM');
    await worker.exited;
    for (const [i, point] of points.entries()) {
      const victim = crashingWorker(point);
      // The work of an earlier victim may end this one before it is ready.
      await fleet.untilReady(victim).catch(() => undefined);
      await leases.delete(all[i]!.id);
      await dead(victim, point);
    }
    fleet.addWorker();
    for (const { id, containerId } of all) {
      const { endedAt } = await leases.untilState(id, 'ended', 40_000);
      if (runtime.answered) expect(Date.parse(endedAt!)).toBeGreaterThanOrEqual(removedAt(containerId!)!);
    }
    expect(await containers()).toEqual([]);
    await until(async () => (await openJobs()) === 0, 'their owner has no job left', 20_000);
  }, 120_000);

  /** Without HTTP, a process can be killed only between steps that call the store. */
  function pointsOf(points: readonly string[]): readonly string[] {
    return runtime.answered ? points : points.filter((point) => !point.startsWith('engine/'));
  }

  function containers(): Promise<readonly Container[]> {
    return runtime.engine.list(`mooring.fleet=${fleet.prefix}`, NO_LIMIT);
  }

  function removedAt(containerId: string): number | undefined {
    return runtime.answered?.find(({ id, call, status }) => {
      return id === containerId && call === 'remove' && status === 204;
    })?.at;
  }

  function crashingWorker(point: string): TestProcess {
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

async function fakeRuntime(): Promise<LeaseRuntime> {
  const docker = await FakeDocker.start();
  const runtime = await dockerRuntime(docker.host);
  const close = async (): Promise<void> => {
    await runtime.close();
    await docker.stop();
  };
  return { ...runtime, close };
}
