import type { Container } from '#workloads/containers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { leaseRuntimes, type LeaseRuntime } from '../support/lease-runtimes.js';
import { LeaseCaller, type CleanupLine, type LeaseView } from '../support/leases.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { until } from '../support/until.js';

const NO_LIMIT = new AbortController().signal;
const IMAGE = 'busybox';
const STEPS = ['stop', 'remove', 'record', 'lease'];

/** The behaviour of a lease on every engine. */
describe.each(leaseRuntimes())('leases on $name', ({ start }) => {
  let runtime: LeaseRuntime;
  let fleet: Fleet;
  let leases: LeaseCaller;
  beforeAll(async () => {
    runtime = await start();
    // The sweep is off, unless a test requests it.
    const env = { ...runtime.env, LEASE_REAP_EVERY: '10m' };
    fleet = await Fleet.start({ workers: 2, janitor: true, env });
    leases = new LeaseCaller(fleet, IMAGE);
  });
  afterEach(() => untilNoneIsLeft(runtime, fleet));
  afterAll(() => stop(runtime, fleet));

  it('are provisioned for a time and then reaped without a call, each step in order', async () => {
    const order = { image: IMAGE, duration: '5s', owner: 'trip:5' };
    const { status, body } = await leases.post('/v1/leases', order);
    expect({ status, body }).toMatchObject({
      status: 202,
      body: { id: expect.any(String), state: expect.stringMatching(/provisioning|running/), owner: 'trip:5' },
    });
    const [id, expiresAt] = [String(body['id']), Date.parse(String(body['expiresAt']))];
    expect(expiresAt).toBe(Date.parse(String(body['createdAt'])) + 5_000);
    const { containerId } = await leases.untilState(id, 'running');
    expect(await containersOf(runtime, fleet)).toMatchObject([
      { id: containerId, name: leases.nameOf(id), running: true, labels: { 'mooring.lease': id } },
    ]);

    await until(async () => (await containersOf(runtime, fleet)).length === 0, 'it is gone');
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
    expect(Date.now() - expiresAt).toBeLessThan(5_000);
    expect(await leases.untilState(id, 'ended')).toMatchObject({ endedBy: 'expired', containerId });
    await until(() => leases.cleanup(id).length === 4, 'all steps are logged');
    expect(leases.cleanup(id)).toMatchObject(
      STEPS.map((action) => {
        const durationMs: unknown = expect.any(Number);
        return { leaseId: id, containerId, action, status: 'done', attempt: 1, durationMs };
      }),
    );
    if (runtime.answered) expect(endingsOf(runtime, containerId!)).toEqual(['stop 204', 'remove 204']);
  });

  it('count a stopped or missing container as ended', async () => {
    const [stopped, gone] = await Promise.all([leases.askRunning('8s'), leases.askRunning('8s')]);
    await runtime.engine.stop(stopped.containerId!, NO_LIMIT);
    await runtime.engine.remove(gone.containerId!, NO_LIMIT);
    for (const { id } of [stopped, gone])
      expect(await leases.untilState(id, 'ended', 20_000)).toMatchObject({ endedBy: 'expired' });
    await until(() => leases.cleanup(gone.id).length === 2, 'all was said of one');
    expect(leases.cleanup(gone.id).map(({ action }) => action)).toEqual(['record', 'lease']);
    await until(() => leases.cleanup(stopped.id).length === 4, 'all was said of the other');
    expect(words(leases.cleanup(stopped.id))).toEqual(STEPS.map((action) => `1 ${action} done`));
  });

  it('are tried three times, after 1 s and 4 s, checked 9 s later, given up and reported, and ended on demand or by the sweep', async () => {
    const calls = runtime.refuses;
    const asked = await Promise.all([0, 1].map(() => leases.askRunning('8s')));
    const stuck = asked.map((lease, i) => {
      const call = calls[i % calls.length]!;
      return { ...lease, call, well: runtime.trouble('refuse', call, containerOf(leases, lease)) };
    });
    for (const { id, containerId, call } of stuck) {
      const given = await leases.untilState(id, 'manual-cleanup', 40_000);
      const why: unknown = expect.stringMatching(/still there/);
      expect(given).toMatchObject({ endedBy: 'expired', containerId, why });
      const said = await until(() => givenUp(id), 'it is logged');
      expect(said).toMatchObject({ status: 'failed', containerId });
      const lines = leases.cleanup(id);
      const each = call === 'stop' ? ['stop failed'] : ['stop done', 'remove failed'];
      expect(words(lines)).toEqual([1, 2, 3].flatMap((attempt) => each.map((one) => `${attempt} ${one}`)));
      const failed = lines.filter(({ status }) => status === 'failed');
      expect(failed).toMatchObject(failed.map(() => ({ containerId, durationMs: expect.any(Number) })));
      const [first, second, third] = failed.map(({ time }) => time);
      expectWait(second! - first!, 1_000);
      expectWait(third! - second!, 4_000);
      expectWait(Number(said['time']) - third!, 9_000);
      expect(await runtime.engine.find(containerId!, NO_LIMIT)).toMatchObject({ running: call === 'stop' });
    }
    const [byHand, bySweep] = stuck.map(({ id }) => id);
    expect((await leases.ids('manual-cleanup')).toSorted()).toEqual([byHand!, bySweep!].toSorted());
    expect((await leases.renew(byHand!, '1m')).status).toBe(409);

    for (const { well } of stuck) well();
    const demanded = await leases.post(`/v1/leases/${byHand}/cleanup`);
    expect(demanded).toMatchObject({ status: 202, body: { state: 'ending' } });
    expect(await leases.untilState(byHand!, 'ended', 20_000)).toMatchObject({ endedBy: 'expired' });
    expect(await leases.ids('manual-cleanup')).toEqual([bySweep]);
    await leases.post('/v1/admin/sweeps/leases', {});
    expect(await leases.untilState(bySweep!, 'ended', 20_000)).toMatchObject({ endedBy: 'expired' });
    for (const { containerId } of stuck)
      expect(await runtime.engine.find(containerId!, NO_LIMIT)).toBeUndefined();
  });

  it('whose removal hangs are retried and delay no others', async ({ skip }) => {
    // A hanging disk blocks its process; only calls to an engine have a time limit.
    if (!runtime.answered) return skip();
    const [hanging, other] = await Promise.all([leases.askRunning('8s'), leases.askRunning('9s')]);
    const well = runtime.trouble('hang', 'remove', containerOf(leases, hanging));
    const { endedAt, expiresAt } = await leases.untilState(other.id, 'ended', 20_000);
    expect(Date.parse(endedAt!) - Date.parse(expiresAt)).toBeLessThan(5_000);
    expect((await leases.read(hanging.id)).state).toBe('ending');
    await until(() => words(leases.cleanup(hanging.id)).includes('1 remove failed'), 'it was given up once');
    well();
    await leases.untilState(hanging.id, 'ended');
    await until(() => leases.cleanup(hanging.id).length === 6, 'all steps are logged');
    // A half-finished end is repeated from the start.
    expect(words(leases.cleanup(hanging.id))).toEqual([
      '1 stop done',
      '1 remove failed',
      ...STEPS.map((action) => `${action === 'lease' ? 1 : 2} ${action} done`),
    ]);
  });

  it('end with the owner they were given, and with no other', async () => {
    const [one, another, other] = await Promise.all([
      leases.askRunning('1h', { owner: 'trip:1' }),
      leases.askRunning('1h', { owner: 'trip:1' }),
      leases.askRunning('1h', { owner: 'trip:2' }),
    ]);
    await leases.post('/v1/owners/trip/1/cancel', { reason: 'the ride is off' });
    for (const { id } of [one, another])
      expect(await leases.untilState(id, 'ended', 20_000)).toMatchObject({
        endedBy: 'owner',
        why: 'trip:1 was cancelled: the ride is off',
      });
    expect(await containersOf(runtime, fleet)).toMatchObject([{ id: other.containerId, running: true }]);
    expect(await leases.read(other.id)).toMatchObject({ state: 'running', owner: 'trip:2' });
    const late = await leases.post('/v1/leases', { image: IMAGE, duration: '1m', owner: 'trip:1' });
    expect(late).toMatchObject({ status: 409, body: { code: 'OWNER_CLOSED' } });
    await leases.delete(other.id);
    expect(await leases.untilState(other.id, 'ended')).toMatchObject({ endedBy: 'deleted' });
  });

  function givenUp(id: string): Record<string, unknown> | undefined {
    return fleet.processes
      .flatMap((process) => process.facts())
      .find(({ event, leaseId }) => event === 'lease.manual-cleanup' && leaseId === id);
  }
});

describe.each(leaseRuntimes())('leases of two janitors on $name', ({ start }) => {
  let runtime: LeaseRuntime;
  let fleet: Fleet;
  let leases: LeaseCaller;
  let theirs: Container[] = [];
  beforeAll(async () => {
    runtime = await start();
    const env = { ...runtime.env, LEASE_REAP_EVERY: '1s', SWEEP_LOCK: '2s' };
    fleet = await Fleet.start({ workers: 2, janitor: true, env });
    await fleet.untilReady(fleet.addJanitor());
    leases = new LeaseCaller(fleet, IMAGE);
    theirs = await somebodyElses();
  });
  afterAll(async () => {
    try {
      for (const { id } of theirs) await runtime.engine.remove(id, NO_LIMIT);
      await untilNoneIsLeft(runtime, fleet);
    } finally {
      await stop(runtime, fleet);
    }
  });

  it('are each reaped once, by one janitor, among sweeps that run one at a time; foreign containers are untouched', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => leases.askRunning('12s')));
    // Long enough for any second attempt to happen.
    const well = all.map((lease) => runtime.trouble('slow', 'remove', containerOf(leases, lease)));
    for (const { id } of all) await leases.untilState(id, 'ended');
    for (const one of well) one();
    for (const { id, containerId } of all) {
      await until(() => leases.cleanup(id).length >= 4, 'all steps are logged');
      expect(words(leases.cleanup(id))).toEqual(STEPS.map((action) => `1 ${action} done`));
      const whoStopped = fleet.processes.filter((one) => leases.cleanup(id, [one])[0]?.action === 'stop');
      expect(whoStopped).toHaveLength(1);
      expect(words(leases.cleanup(id, whoStopped)).slice(0, 3)).toEqual(
        STEPS.slice(0, 3).map((action) => `1 ${action} done`),
      );
      if (runtime.answered) expect(endingsOf(runtime, containerId!)).toEqual(['stop 204', 'remove 204']);
    }
    await expectTheirsUntouched();

    const sweeps = await until(async () => {
      const { body } = await fleet.request('GET', '/v1/admin/sweeps');
      const of = (body['sweeps'] as Sweep[]).filter(({ sweep, endedAt }) => sweep === 'leases' && endedAt);
      return of.length >= 3 && of.toSorted((a, b) => a.askedAt.localeCompare(b.askedAt));
    }, 'there were some sweeps');
    expect(sweeps.filter(({ askedAt }, i) => i > 0 && askedAt < sweeps[i - 1]!.endedAt)).toEqual([]);
  });

  it('are ended by the other janitor when one is killed half-way, without any worker', async () => {
    const asked = await leases.askRunning('9s');
    const { id, containerId } = asked;
    for (const worker of fleet.workers) worker.kill('SIGTERM');
    for (const worker of fleet.workers) await worker.exited;
    const well = runtime.trouble('hang', 'remove', containerOf(leases, asked));
    const first = await until(
      () => fleet.janitors.find((one) => words(leases.cleanup(id, [one])).includes('1 stop done')),
      'one has stopped it',
    );
    first.kill('SIGKILL');
    await first.exited;
    well();
    expect(await leases.untilState(id, 'ended')).toMatchObject({ endedBy: 'expired' });
    expect(words(leases.cleanup(id, [first]))).toEqual(['1 stop done']);
    const rest = fleet.janitors.filter((one) => one !== first);
    await until(() => leases.cleanup(id, rest).length === 4, 'all steps are logged');
    // Stopping a stopped container counts as done; the whole sequence is repeated.
    expect(words(leases.cleanup(id, rest))).toEqual(STEPS.map((action) => `1 ${action} done`));
    expect(await runtime.engine.find(containerId!, NO_LIMIT)).toBeUndefined();
    await expectTheirsUntouched();
  });

  /** A container without our labels, and a foreign one with them. */
  async function somebodyElses(): Promise<Container[]> {
    const { id, containerId } = await leases.askRunning('1h');
    const { labels } = (await runtime.engine.find(containerId!, NO_LIMIT))!;
    await leases.delete(id);
    await leases.untilState(id, 'ended');
    const make = (name: string, its: Record<string, string>): Promise<Container> =>
      runtime.engine.create({ name: `${name}-${fleet.prefix}`, image: IMAGE, labels: its }, NO_LIMIT);
    return [await make('theirs', {}), await make('copied', labels)];
  }

  async function expectTheirsUntouched(): Promise<void> {
    const now = await Promise.all(theirs.map(({ id }) => runtime.engine.find(id, NO_LIMIT)));
    expect(now).toEqual(theirs);
    expect(theirs.flatMap(({ id }) => endingsOf(runtime, id))).toEqual([]);
  }
});

interface Sweep {
  readonly sweep: string;
  readonly askedAt: string;
  readonly endedAt: string;
}

function containersOf({ engine }: LeaseRuntime, { prefix }: Fleet): Promise<readonly Container[]> {
  return engine.list(`mooring.fleet=${prefix}`, NO_LIMIT);
}

async function untilNoneIsLeft(runtime: LeaseRuntime, fleet: Fleet): Promise<void> {
  await until(async () => (await containersOf(runtime, fleet)).length === 0, 'no container is left');
  await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
}

async function stop(runtime: LeaseRuntime, fleet: Fleet): Promise<void> {
  try {
    await fleet.stop();
  } finally {
    await runtime.close();
  }
}

function containerOf(leases: LeaseCaller, { id, containerId }: LeaseView): Pick<Container, 'id' | 'name'> {
  return { id: containerId!, name: leases.nameOf(id) };
}

function words(lines: readonly CleanupLine[]): string[] {
  return lines.map(({ attempt, action, status }) => `${attempt} ${action} ${status}`);
}

/** The engine's responses to calls that end the container. */
function endingsOf({ answered = [] }: LeaseRuntime, containerId: string): string[] {
  return answered.filter(({ id }) => id === containerId).map(({ call, status }) => `${call} ${status}`);
}

/** Not sooner, and not much later: the reconciler runs every half second. */
function expectWait(waitedMs: number, wantedMs: number): void {
  expect(waitedMs).toBeGreaterThanOrEqual(wantedMs);
  expect(waitedMs).toBeLessThan(wantedMs + 3_000);
}
