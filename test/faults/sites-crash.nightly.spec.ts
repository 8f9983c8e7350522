import { Redis } from 'ioredis';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { startOdd } from '../support/odd-worker.js';
import type { TestProcess } from '../support/process.js';
import { TestSite } from '../support/sites.js';
import { until } from '../support/until.js';

/**
 * A process is killed at each step of a change: writing, requesting a build, building, offering, publishing, deleting.
 */
describe('kill -9 of a process that', () => {
  let fleet: Fleet;
  let worker: TestProcess | undefined;
  beforeAll(async () => {
    fleet = await Fleet.start({ workers: 0, janitor: true, env: { WORKER_LOCK: '1s' } });
  });
  afterAll(() => fleet.stop());

  async function killed(app: 'api' | 'worker', point: string): Promise<TestProcess> {
    const odd = startOdd(app, fleet, 'fail-point', { FAIL_POINT: point, PORT: '0', WORKER_LOCK: '1s' });
    await fleet.untilReady(odd);
    return odd;
  }

  async function expectKilled(process: TestProcess): Promise<void> {
    expect(await process.exited).toEqual({ code: null, signal: 'SIGKILL' });
  }

  async function withWorker(): Promise<void> {
    if (!worker) await fleet.untilReady((worker = fleet.addWorker()));
  }

  async function withoutWorker(): Promise<void> {
    worker?.kill('SIGTERM');
    await worker?.exited;
    worker = undefined;
  }

  it.each(['before:sites/change', 'after:sites/change', 'before:sites/asked', 'after:sites/asked'])(
    'changes an entity, %s: a written change is shown without another change',
    async (point) => {
      await withWorker();
      const site = await TestSite.create(fleet);
      const api = await killed('api', point);
      await expect(site.via(api).put('post', '1')).rejects.toThrow('fetch failed');
      await expectKilled(api);
      if (point === 'before:sites/change') {
        expect(await site.view()).toMatchObject({ version: 0, builds: [] });
        return;
      }
      await site.untilBuilt();
      await site.text('/post/1');
      await untilAtRest();
    },
  );

  it('changes an entity, with no other api alive: a janitor requests the build and publishes it', async () => {
    await withWorker();
    const site = await TestSite.create(fleet);
    const api = await killed('api', 'after:sites/change');
    fleet.api.kill('SIGSTOP');
    try {
      await expect(site.via(api).put('post', '1')).rejects.toThrow('fetch failed');
      await expectKilled(api);
      await untilAtRest();
    } finally {
      fleet.api.kill('SIGCONT');
    }
    await site.text('/post/1');
  });

  it.each(['begin', 'offer'].flatMap((name) => [`before:sites/${name}`, `after:sites/${name}`]))(
    'builds, %s: the site is built again, and shows the build before until the new one counts',
    async (point) => {
      await withWorker();
      const site = await TestSite.create(fleet);
      await site.put('post', '0');
      await site.untilBuilt();
      await withoutWorker();
      const odd = await killed('worker', point);
      await site.put('post', '1');
      await expectKilled(odd);
      const statuses = [(await site.page('/post/0')).status, (await site.page('/post/1')).status];
      expect(statuses).toEqual([200, 404]);
      await withWorker();
      const { builds } = await site.untilBuilt();
      expect(builds).toMatchObject([
        { state: 'completed', current: true, version: 2 },
        { state: 'completed', current: false, version: 1 },
      ]);
      await site.text('/post/1');
      await untilAtRest();
    },
  );

  it.each(['before:sites/switch', 'after:sites/switch'])(
    'shows a build, %s: another api shows it',
    async (point) => {
      await withWorker();
      const site = await TestSite.create(fleet);
      const api = await killed('api', point);
      // No other process may publish the build.
      const others = [fleet.api, ...fleet.janitors];
      for (const other of others) other.kill('SIGSTOP');
      try {
        await site.via(api).put('post', '1');
        await until(
          async () => api.hasExited || ((await site.via(api).view()) && false),
          'it crashes at the probe',
        );
        await expectKilled(api);
      } finally {
        for (const other of others) other.kill('SIGCONT');
      }
      await site.untilBuilt();
      await site.text('/post/1');
      await untilAtRest();
    },
  );

  it.each(['after:sites/gone', 'after:cancel', 'before:sites/forget'])(
    'deletes a site, %s: no page is readable, and finally no data is left',
    async (point) => {
      await withWorker();
      const site = await TestSite.create(fleet);
      await site.put('post', '1');
      const { id } = (await site.untilBuilt()).builds[0]!;
      const api = await killed('api', point);
      await expect(site.via(api).delete()).rejects.toThrow('fetch failed');
      await expectKilled(api);
      expect([(await site.page('/post/1')).status, await site.put('post', '2')]).toEqual([404, 404]);
      await until(async () => (await keys(`*:${site.id}*`)).length === 0, 'nothing leads to it');
      expect((await files()).filter((path) => path.includes(id))).toEqual([]);
    },
  );

  /** No process has work left for any site. */
  async function untilAtRest(): Promise<void> {
    await until(async () => (await keys('*:{sites:*:due')).length === 0, 'no site is due');
    expect(await keys('*:offers')).toEqual([]);
  }

  async function keys(pattern: string): Promise<string[]> {
    const redis = new Redis(fleet.storeUrl);
    const found: string[] = [];
    for await (const page of redis.scanStream({ match: `${fleet.prefix}${pattern}`, count: 1_000 }))
      found.push(...(page as string[]));
    await redis.quit();
    return found;
  }

  async function files(): Promise<string[]> {
    const all = await readdir(fleet.artifacts, { recursive: true, withFileTypes: true });
    return all.filter((each) => each.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`);
  }
});
