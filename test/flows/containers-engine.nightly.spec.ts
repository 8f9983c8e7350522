import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeDocker } from '../support/fake-docker.js';
import { Fleet } from '../support/fleet.js';
import { LeaseCaller } from '../support/leases.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

describe('leases on an engine with faults', () => {
  let docker: FakeDocker;
  let fleet: Fleet;
  let leases: LeaseCaller;
  beforeAll(async () => {
    docker = await FakeDocker.start();
    // The sweep is off.
    const env = { DOCKER_HOST: docker.host, LEASE_REAP_EVERY: '10m', LEASE_LIMIT: '9', WORKER_LOCK: '2s' };
    fleet = await Fleet.start({ workers: 2, janitor: true, env });
    leases = new LeaseCaller(fleet);
  });
  afterAll(async () => {
    await fleet.stop();
    await docker.stop();
  });
  afterEach(async () => {
    docker.calm();
    expect(docker.running.filter(({ name }) => name.startsWith(`lease-${fleet.prefix}`))).toEqual([]);
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  });

  it('count a stopped or missing container as ended', async () => {
    const [stopped, gone] = await Promise.all([leases.askRunning('5s'), leases.askRunning('5s')]);
    docker.get(stopped.containerId!)!.exit(0);
    docker.containers.delete(gone.containerId!);
    for (const { id } of [stopped, gone])
      expect(await leases.untilState(id, 'ended', 20_000)).toMatchObject({ endedBy: 'expired' });
    await until(() => leases.cleanup(gone.id).length === 2, 'all steps are logged');
    expect(leases.cleanup(gone.id).map(({ action }) => action)).toEqual(['record', 'lease']);
  });

  it('leave a container alone that took the id, name or labels of theirs', async () => {
    const one = await leases.askRunning('5s');
    const ours = docker.get(one.containerId!)!;
    docker.containers.delete(ours.id);
    const namesake = docker.add(ours.name);
    const copy = docker.add('production-database', ours.labels);
    await leases.untilState(one.id, 'ended', 20_000);
    expect([namesake, copy].map(({ isRunning }) => isRunning)).toEqual([true, true]);
    for (const { id } of [namesake, copy]) docker.containers.delete(id);
  });

  it('are tried three times, after 1 s and 4 s, checked 9 s later, given up, and ended on demand', async () => {
    const { id, containerId } = await leases.askRunning('5s');
    const well = docker.trouble({ call: 'remove', trouble: 'error', of: leases.nameOf(id), times: 1_000 });
    const stuck = await leases.untilState(id, 'manual-cleanup');
    expect(stuck).toMatchObject({
      endedBy: 'expired',
      containerId,
      why: expect.stringMatching(/still there/),
    });
    expect(await leases.ids('manual-cleanup')).toEqual([id]);
    expect((await leases.renew(id, '1m')).status).toBe(409);
    const lines = await until(
      () => leases.cleanup(id).length >= 6 && leases.cleanup(id),
      'all steps are logged',
    );
    expect(lines.map(({ action, status, attempt }) => `${attempt} ${action} ${status}`)).toEqual(
      [1, 2, 3].flatMap((attempt) => [`${attempt} stop done`, `${attempt} remove failed`]),
    );
    const [first, second, third] = lines.filter(({ action }) => action === 'remove').map(({ time }) => time);
    expect(second! - first!).toBeGreaterThanOrEqual(1_000);
    expect(third! - second!).toBeGreaterThanOrEqual(4_000);
    await until(
      () => fleet.processes.some((one) => one.facts().some(({ event }) => event === 'lease.manual-cleanup')),
      'it is logged',
    );

    well();
    expect(await leases.post(`/v1/leases/${id}/cleanup`)).toMatchObject({
      status: 202,
      body: { state: 'ending' },
    });
    expect(fleet.api.facts()).toContainEqual(
      expect.objectContaining({ event: 'lease.cleanup-asked', leaseId: id, release: false, by: 'api' }),
    );
    await leases.untilState(id, 'ended', 20_000);
    expect(docker.get(containerId!)).toBeUndefined();
  }, 120_000);

  it('that cannot be stopped keep their place and delay no other', async () => {
    const hanging = await Promise.all(Array.from({ length: 6 }, () => leases.askRunning('5s')));
    for (const { id } of hanging)
      docker.trouble({ call: 'stop', trouble: 'hang', of: leases.nameOf(id), times: 1 });
    const others = await Promise.all([leases.askRunning('5s'), leases.askRunning('5s')]);
    for (const { id } of others) {
      const { endedAt, expiresAt } = await leases.untilState(id, 'ended', 20_000);
      expect(Date.parse(endedAt!) - Date.parse(expiresAt)).toBeLessThan(3_000);
    }
    const states = await Promise.all(hanging.map(async ({ id }) => (await leases.read(id)).state));
    expect(new Set(states)).toEqual(new Set(['ending']));
    const ids = await Promise.all([1, 2, 3].map(() => leases.ask('1h')));
    expect((await leases.post('/v1/leases', { image: 'alpine', duration: '1m' })).status).toBe(429);
    for (const { id } of hanging) await leases.untilState(id, 'ended');
    for (const id of ids) await leases.delete(id);
    for (const id of ids) await leases.untilState(id, 'ended');
  }, 120_000);

  it('end during the creation of their container, which is removed when it appears', async () => {
    docker.trouble({ call: 'create', trouble: { slowMs: 1_500 } });
    const before = docker.calls.length;
    const id = await leases.ask('1h');
    await until(() => docker.calls.includes('POST /containers/create', before), 'it is being made');
    await leases.delete(id);
    expect(docker.get(leases.nameOf(id))).toBeUndefined();
    // Not before it is certain that no container will appear: the place stays taken until then.
    expect(await leases.untilState(id, 'ended', 20_000)).toMatchObject({ containerId: null });
    expect(docker.removed.map(({ name }) => name)).toContain(leases.nameOf(id));
    expect(docker.get(leases.nameOf(id))).toBeUndefined();
  }, 120_000);

  it('end during the creation of their container by an engine that does not report the outcome', async () => {
    docker.trouble({ call: 'create', trouble: 'hang-after' });
    const id = await leases.ask('1h');
    const made = await until(() => docker.get(leases.nameOf(id)), 'it is made');
    await leases.delete(id);
    await leases.untilState(id, 'ended', 25_000);
    expect(docker.get(made.id)).toBeUndefined();
  }, 120_000);

  it('have one container, even if the worker that created it was killed', async () => {
    docker.trouble({ call: 'start', trouble: 'hang' });
    const id = await leases.ask('1h');
    await until(() => docker.get(leases.nameOf(id)), 'it is made, and not started');
    const made = docker.get(leases.nameOf(id))!;
    const busy = fleet.workers.find((worker) =>
      worker.facts().some(({ event, owner }) => event === 'job.began' && owner === `lease:${id}`),
    )!;
    busy.kill('SIGKILL');
    expect(await busy.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(await leases.untilState(id, 'running')).toMatchObject({ containerId: made.id });
    expect(made.isRunning).toBe(true);
    await leases.delete(id);
    await leases.untilState(id, 'ended');
    await fleet.untilReady(fleet.addWorker());
  }, 120_000);

  it('fail for good when the image is missing, and name the remedy', async () => {
    const id = await leases.ask('1h', { image: 'alpine:never' });
    expect(await leases.untilState(id, 'failed', 20_000)).toMatchObject({
      endedBy: 'failed',
      containerId: null,
      why: expect.stringContaining('docker pull alpine:never'),
    });
  });

  it('wait for an unavailable engine, and fail when it stays away', async () => {
    await docker.down();
    const id = await leases.ask('1h');
    await until(
      () =>
        fleet.workers.some((one) =>
          one.facts().some(({ event, kind }) => event === 'job.failed' && kind === 'containers.provision'),
        ),
      'an attempt has failed',
    );
    await docker.up();
    await leases.untilState(id, 'running');
    await docker.restart(500);
    await leases.delete(id);
    await leases.untilState(id, 'ended');
  }, 120_000);

  it('end without workers, with two janitors', async () => {
    const { id } = await leases.askRunning('3s');
    await fleet.untilReady(fleet.addJanitor());
    for (const worker of fleet.workers.filter((one) => !one.hasExited)) worker.kill('SIGTERM');
    const { endedAt, expiresAt } = await leases.untilState(id, 'ended', 15_000);
    expect(Date.parse(endedAt!) - Date.parse(expiresAt)).toBeLessThan(5_000);
    await until(() => leases.cleanup(id).length === 4, 'all steps are logged');
    expect(leases.cleanup(id).map(({ action, status }) => `${action} ${status}`)).toEqual([
      'stop done',
      'remove done',
      'record done',
      'lease done',
    ]);
  }, 120_000);
});

describe('leases while the store is away', () => {
  it('end when it is back, and the outage is logged', async () => {
    const [store, docker] = [await TestStore.start(), await FakeDocker.start()];
    const env = { DOCKER_HOST: docker.host };
    const fleet = await Fleet.start({ workers: 1, janitor: true, storeUrl: store.url, env });
    try {
      const leases = new LeaseCaller(fleet);
      const { id, containerId } = await leases.askRunning('5s');
      await store.kill();
      await until(
        () =>
          fleet.janitors[0]!.facts().some(({ event, duty }) => event === 'duty.failed' && duty === 'leases'),
        'it is logged',
      );
      expect(docker.get(containerId!)!.isRunning).toBe(true);
      await store.restart();
      await until(() => docker.get(containerId!) === undefined, 'it is gone', 60_000);
      expect(await leases.untilState(id, 'ended', 60_000)).toMatchObject({ endedBy: 'expired' });
    } finally {
      await fleet.stop();
      await docker.stop();
      await store.stop();
    }
  }, 120_000);
});
