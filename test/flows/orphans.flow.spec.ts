import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { Mooring } from '../support/mooring.js';
import { answer, OwnerService, type Call } from '../support/owner-service.js';
import { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const GRACE_MS = 1_500;
const LOCK_MS = 1_000;
const LATER = { delay: '1h' };

interface Record {
  readonly sweepId: string;
  readonly state: string;
  readonly removed: number;
  readonly lines: { what: string; why: string }[];
}

/** Owners whose service reports them as gone, and janitors that ask it. Each test starts and stops its own janitors. */
describe('orphans', () => {
  let service: OwnerService;
  let folder: string;
  let fleet: Fleet;
  /** The ids that the service reports as gone. */
  let gone: Set<string>;
  /** The owners of the current test. */
  let owners: Set<string>;
  /** The ids of the sweeps of earlier tests. */
  let earlier: Set<string>;
  beforeAll(async () => {
    service = await OwnerService.start();
    folder = await mkdtemp(join(tmpdir(), 'mooring-orphans-'));
    const path = join(folder, 'resolvers.json');
    await writeFile(path, JSON.stringify({ ride: { http: { url: service.url, timeout: '10s' } } }));
    fleet = await Fleet.start({
      workers: 0,
      env: {
        OWNER_RESOLVERS: path,
        OWNER_GRACE: `${GRACE_MS}ms`,
        ORPHAN_SWEEP_EVERY: '100ms',
        SWEEP_LOCK: `${LOCK_MS}ms`,
        PROBE: 'on',
      },
    });
  });
  beforeEach(async () => {
    gone = new Set();
    owners = new Set();
    service.behave = tell;
    earlier = new Set();
    earlier = new Set((await sweeps()).map(({ sweepId }) => sweepId));
  });
  afterEach(async () => {
    try {
      await endJanitors();
    } finally {
      await Promise.all([...owners].map(cancel));
      await forgetTrip();
    }
  });
  afterAll(async () => {
    try {
      await fleet.stop();
    } finally {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  function tell(call: Call): void {
    const isGone = (id: string): boolean => gone.has(id);
    answer(call, { alive: call.ids.filter((id) => !isGone(id)), gone: call.ids.filter(isGone) });
  }

  /** A janitor that does not exit with 0 fails the test. */
  async function endJanitors(): Promise<void> {
    const running = fleet.janitors.splice(0).filter(({ hasExited }) => !hasExited);
    for (const one of running) {
      one.kill('SIGCONT');
      one.kill('SIGTERM');
    }
    const exits = await Promise.all(running.map(({ exited }) => exited));
    expect(exits).toEqual(running.map(() => ({ code: 0, signal: null })));
  }

  /** A failed test may leave a tripped sweep, which would stop the sweeps of the next test. */
  async function forgetTrip(): Promise<void> {
    const { tripped } = (await fleet.request('GET', '/v1/admin/sweeps')).body;
    if (Object.keys(tripped as object).length > 0)
      await fleet.request('POST', '/v1/admin/sweeps/orphans', { acknowledge: true });
  }

  async function cancel(id: string): Promise<void> {
    const receipt = await fleet.request('POST', `/v1/owners/ride/${id}/cancel`, {
      reason: 'the end of the test',
    });
    expect(receipt).toMatchObject({ status: 200 });
  }

  const enqueue = (id: string): Promise<string> => {
    owners.add(id);
    return fleet.probe({}, { owners: [`ride:${id}`], ...LATER });
  };
  const janitor = async (env: NodeJS.ProcessEnv = {}): Promise<TestProcess> => {
    const one = fleet.addJanitor(env);
    await fleet.untilReady(one);
    return one;
  };
  /** The sweeps of the current test. */
  const sweeps = async (): Promise<Record[]> => {
    const all = (await fleet.request('GET', '/v1/admin/sweeps')).body['sweeps'] as Record[];
    return all.filter(({ sweepId }) => !earlier.has(sweepId));
  };
  const askedAbout = (id: string): number => service.calls.filter(({ ids }) => ids.includes(id)).length;

  it('are removed, and every record says why', async () => {
    const [lost, kept] = [await enqueue('lost'), await enqueue('kept')];
    gone.add('lost');
    const one = await janitor();
    const job = await fleet.untilState(lost, 'removed');
    expect(job.error).toMatch(/^orphan by janitor: gone since .* \(it was delayed\)$/);
    expect(await fleet.job(kept)).toMatchObject({ state: 'delayed' });

    const history = await fleet.request('GET', '/v1/owners/ride/lost/history');
    expect(history.body['entries']).toMatchObject([{ id: lost, why: 'orphan', by: 'janitor' }]);
    const [done] = await until(async () => {
      const all = await sweeps();
      const found = all.filter(({ state, removed }) => state === 'done' && removed > 0);
      return found.length > 0 && found;
    }, 'its sweep is written down');
    const read = await fleet.request('GET', `/v1/admin/sweeps/${done!.sweepId}`);
    expect(read.body).toMatchObject({
      state: 'done',
      removed: 1,
      jobs: 1,
      lines: [{ what: 'ride:lost', why: expect.stringMatching(/^gone since/) }],
      cursor: null,
    });
    const said = await until(() => {
      const facts = one.facts().filter(({ event, removed }) => event === 'sweep.done' && removed === 1);
      return facts.length > 0 && facts;
    }, 'it is logged');
    expect(said).toMatchObject([{ level: 30, sweep: 'orphans', jobs: 1 }]);
  });

  it('do not include an owner whose row is written later', async () => {
    gone.add('late');
    await janitor({ OWNER_GRACE: '4s' });
    const id = await enqueue('late');
    const began = Date.now();
    await until(() => Date.now() - began > 1_500, 'the row is written a while later');
    gone.delete('late');
    await until(() => askedAbout('late') > 0, 'it is old enough to be asked about', 15_000);
    const calls = askedAbout('late');
    await until(() => askedAbout('late') > calls + 2, 'it was asked about again');
    expect(await fleet.job(id)).toMatchObject({ state: 'delayed' });
  });

  it('are removed once when one of two janitors was paused past its lock and continues', async () => {
    const paused = await janitor();
    const id = await enqueue('back');
    let held: Call | undefined;
    service.behave = (call) => {
      // This is the second and deciding question about this owner.
      if (askedAbout('back') > 1 && !held && call.ids.includes('back')) held = call;
      else tell(call);
    };
    gone.add('back');
    await until(() => held, 'the first janitor asks for the second time', 15_000);
    paused.kill('SIGSTOP');
    answer(held!, { alive: held!.ids.filter((one) => one !== 'back'), gone: ['back'] });
    service.behave = tell;

    await janitor();
    await fleet.untilState(id, 'removed', 15_000);
    gone.delete('back');
    const next = await enqueue('back');
    const callsBefore = askedAbout('back');
    paused.kill('SIGCONT');
    await until(
      () => paused.facts().length > 0 && askedAbout('back') > callsBefore + 1,
      'both go on',
      15_000,
    );
    expect(await fleet.job(next)).toMatchObject({ state: 'delayed' });
    const history = await fleet.request('GET', '/v1/owners/ride/back/history');
    expect(history.body['entries']).toMatchObject([{ id, why: 'orphan' }]);
  });

  it('trip the sweep when they are too many, until an operator forces it', async () => {
    const ids = Array.from({ length: 25 }, (_, i) => `r${i}`);
    await Promise.all(ids.map(enqueue));
    for (const id of ids) gone.add(id);
    const enqueuedAt = Date.now();
    // If the sweep found only the first of them old enough, it would trip on fewer.
    await until(() => Date.now() - enqueuedAt > GRACE_MS, 'the last of them is old enough to be asked about');
    const one = await janitor();
    await until(async () => (await sweeps()).some(({ state }) => state === 'tripped'), 'it trips');
    expect((await fleet.request('GET', '/v1/owners/ride/r0')).body).toMatchObject({
      counts: { jobs: 1 },
    });
    expect((await fleet.request('GET', '/v1/admin/sweeps')).body['tripped']).toMatchObject({
      orphans: { why: expect.stringContaining('25 of 25') },
    });
    const warned = await until(
      () => one.facts().find(({ event }) => event === 'sweep.tripped'),
      'it is logged',
    );
    expect(warned).toMatchObject({ level: 40 });

    const tool = new Mooring({ MOORING_URL: fleet.url });
    const dry = await tool.run(['sweep', 'orphans', '--dry-run', '--force']);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/would remove +25/) });
    // The output has twenty examples in the order of the sweep.
    expect(dry.stdout.match(/^ride:r\d+ +gone since 20/gm)).toHaveLength(20);
    const plain = await tool.run(['sweep', 'orphans']);
    expect(plain).toMatchObject({ code: 1, stdout: expect.stringContaining('tripped') });
    const forced = await tool.run(['sweep', 'orphans', '--force']);
    expect(forced).toMatchObject({ code: 0, stdout: expect.stringMatching(/removed +25/) });
    expect((await fleet.request('GET', '/v1/owners/ride/r0')).body).toMatchObject({
      counts: { jobs: 0 },
    });

    const inTheAddress = await fleet.request('POST', '/v1/admin/sweeps/orphans?dryRun=true');
    expect(inTheAddress).toMatchObject({ status: 400 });
  });

  it('are forgotten when an operator acknowledges a false alarm, and nothing is removed', async () => {
    const ids = Array.from({ length: 25 }, (_, i) => `none-${i}`);
    await Promise.all(ids.map(enqueue));
    for (const id of ids) gone.add(id);
    await janitor();
    const tripped = async (): Promise<object> =>
      (await fleet.request('GET', '/v1/admin/sweeps')).body['tripped'] as object;
    await until(async () => 'orphans' in (await tripped()), 'it trips');
    gone.clear();
    const tool = new Mooring({ MOORING_URL: fleet.url });
    const dry = await tool.run(['sweep', 'orphans', '--acknowledge', '--dry-run']);
    expect(dry).toMatchObject({ code: 1, stdout: expect.stringMatching(/tripped \(Since/) });
    expect(await tripped()).toMatchObject({ orphans: {} });
    const said = await tool.run(['sweep', 'orphans', '--acknowledge']);
    expect(said).toMatchObject({ code: 0, stdout: expect.stringMatching(/removed +0/) });
    expect(await tripped()).toEqual({});
  });

  it('are removed by a cron job, whose exit code is the result of the sweep', async () => {
    const ids = Array.from({ length: 21 }, (_, i) => `cron-${i}`);
    await Promise.all(ids.map(enqueue));
    for (const id of ids) gone.add(id);
    const sweep = async (
      ...options: string[]
    ): Promise<{ code: number | null; record: Record | undefined }> => {
      const run = TestProcess.script(['dist/packed/sweep.js', 'sweep', 'orphans', ...options], {
        REDIS_URL: fleet.storeUrl,
        MOORING_PREFIX: fleet.prefix,
        OWNER_RESOLVERS: join(folder, 'resolvers.json'),
        OWNER_GRACE: '200ms',
        LOG_FORMAT: 'json',
      });
      const { code } = await run.exited;
      return { code, record: run.facts().find((line) => 'sweepId' in line && !('event' in line)) as never };
    };
    await until(async () => (await sweep()).code === 3, 'it is tripped', 20_000);
    gone.clear();
    expect(await sweep('--acknowledge', '--dry-run')).toMatchObject({ code: 3 });
    expect(await sweep('--acknowledge')).toMatchObject({ code: 0, record: { removed: 0, onRequest: true } });
    for (const id of ids) gone.add(id);
    await until(async () => (await sweep()).code === 3, 'it is tripped again', 20_000);
    expect(await sweep('--force')).toMatchObject({ code: 0, record: { state: 'done', removed: 21 } });
    const [again, unknown] = await Promise.all([sweep(), sweep('--now')]);
    expect(again).toMatchObject({ code: 0, record: { removed: 0 } });
    expect(unknown.code).toBe(1);
  });
});
