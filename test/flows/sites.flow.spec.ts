import { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { readdir, rename, unlink, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { TestSite, type BuildSeen } from '../support/sites.js';
import { until } from '../support/until.js';

const STATIC = ['/', '/sitemap.xml', '/style.css'];

describe('a site', () => {
  let fleet: Fleet;
  afterEach(() => fleet.stop());

  async function builtPaths(site: TestSite): Promise<string[]> {
    return (await site.untilBuilt()).routes.map(({ path }) => path).toSorted();
  }

  it('is built from its entities and read page by page', async () => {
    fleet = await Fleet.start();
    const site = await TestSite.create(fleet, { name: 'Harbour' });
    expect((await site.view()).routes.map(({ path }) => path).toSorted()).toEqual(STATIC);
    expect(await site.text('/')).toContain('Nothing here yet.');
    expect(await site.text('/style.css')).toContain('color-scheme');
    const map = await site.page('/sitemap.xml');
    expect(await map.text()).toContain(`${(await site.view()).url}/</loc>`);
    const known = { 'if-none-match': map.headers.get('etag')! };
    expect((await site.page('/sitemap.xml', known)).status).toBe(304);
    expect((await site.page('/post')).status).toBe(404);
    expect(await site.put('post', 'first', { title: 'First', body: 'Hello.' })).toBe(201);
    expect(await site.put('post', 'first', { title: 'First, again', body: 'Hello.' })).toBe(200);
    expect(await site.put('berth', '7 & 8', { depth: 3 })).toBe(201);
    expect(await builtPaths(site)).toEqual(
      [...STATIC, '/berth', '/berth/7%20%26%208', '/post', '/post/first'].toSorted(),
    );
    expect(await site.text('/')).toContain('<a href="./post">post</a> (1)');
    expect(await site.text('/post')).toContain('<a href="./post/first">First, again</a>');
    expect(await site.text('/post/first')).toContain('<p>Hello.</p>');
    expect(await site.text('/berth/7%20%26%208')).toContain('<h1>7 &amp; 8</h1>');
    expect(await site.text('/sitemap.xml')).toContain(`${(await site.view()).url}/post/first</loc>`);
  });

  it('has no route for a deleted entity, and keeps its static routes', async () => {
    fleet = await Fleet.start();
    const site = await TestSite.create(fleet);
    await site.put('post', '1');
    await site.put('post', '2');
    await site.put('event', '1');
    await site.untilBuilt();
    expect([await site.remove('post', '2'), await site.remove('event', '1')]).toEqual([204, 204]);
    expect(await site.remove('event', '1')).toBe(404);
    expect(await builtPaths(site)).toEqual([...STATIC, '/post', '/post/1'].toSorted());
    const pages = await Promise.all(['/post/2', '/event', '/event/1'].map((path) => site.page(path)));
    expect(pages.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(await site.text('/post')).not.toContain('post/2');
    await site.remove('post', '1');
    expect(await builtPaths(site)).toEqual(STATIC);
  });

  it('shows fifty-one entities after two builds, when the first one starts at the fiftieth', async () => {
    fleet = await Fleet.start({ workers: 0 });
    const site = await TestSite.create(fleet, { pace: '3s' });
    for (let i = 1; i <= 49; i += 1) expect(await site.put('post', String(i))).toBe(201);
    await fleet.untilReady(fleet.addWorker());
    const first = await untilRead(site);
    await site.put('post', '50');
    await site.put('post', '51');

    const { builds, routes } = await site.untilBuilt();
    expect(builds).toMatchObject([
      { state: 'completed', current: true, version: 51, entities: 51 },
      { id: first, state: 'completed', current: false, version: 49, entities: 49 },
    ]);
    expect(routes).toHaveLength(51 + 1 + STATIC.length);
    await site.text('/post/50');
    await site.text('/post/51');
  });

  it('is not built for a site-info or a profile, which the next build shows', async () => {
    fleet = await Fleet.start();
    const site = await TestSite.create(fleet);
    expect(await site.put('site-info', 'about', { title: 'About us' })).toBe(201);
    expect(await site.put('profile', 'ada', { title: 'Ada' })).toBe(201);
    await site.put('profile', 'bob', { title: 'Bob' });
    expect(await site.remove('profile', 'bob')).toBe(204);
    expect(await site.view()).toMatchObject({ version: 4, builds: [] });
    await site.put('post', '1');
    expect((await site.untilBuilt()).builds).toHaveLength(1);
    const home = await site.text('/');
    expect([home.includes('About us'), home.includes('Ada'), home.includes('Bob')]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await site.page('/profile')).status).toBe(404);
  });

  it('is sent with entity tags, and not again to a reader with a current copy', async () => {
    fleet = await Fleet.start();
    const site = await TestSite.create(fleet);
    await site.put('post', '1');
    await site.untilBuilt();
    const page = await site.page('/post/1');
    const body = await page.text();
    const etag = page.headers.get('etag')!;
    expect(etag).toBe(`"${createHash('sha256').update(body).digest('base64url')}"`);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'content-length': String(Buffer.byteLength(body)),
    });
    const again = await site.page('/post/1', { 'if-none-match': `"x", ${etag}` });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    await site.put('post', '2');
    await site.untilBuilt();
    expect((await site.page('/post/1', { 'if-none-match': etag })).status).toBe(304);
    expect((await site.page('/post', { 'if-none-match': etag })).status).toBe(200);
    const head = await site.page('/post/1', {}, 'HEAD');
    expect([head.status, head.headers.get('etag')]).toEqual([200, etag]);
    const bare = await site.page('');
    expect([bare.status, bare.headers.get('location')]).toEqual([308, `/sites/${site.id}/`]);
  });

  it('that is deleted loses its running build, its pages and its entities', async () => {
    fleet = await Fleet.start();
    const site = await TestSite.create(fleet);
    await site.put('post', '1');
    const done = (await site.untilBuilt()).builds[0]!.id;
    const slow = await TestSite.create(fleet, { pace: '10s' });
    await slow.put('post', '1');
    const running = await untilRead(slow);
    await slow.put('post', '2');
    expect([await slow.delete(), await site.delete()]).toEqual([204, 204]);
    const states = await until(async () => {
      const jobs = await Promise.all([done, running].map((id) => fleet.job(id)));
      return jobs[1]!.state === 'cancelled' && jobs.map(({ state }) => state);
    }, 'the running build is aborted');
    expect(states).toEqual(['completed', 'cancelled']);
    const asked = [slow.page('/post/1'), site.page('/post/1'), site.page('/')];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([404, 404, 404]);
    expect([await site.put('post', '3'), await site.remove('post', '1'), await site.delete()]).toEqual([
      404, 404, 404,
    ]);
    await until(async () => (await files()).length === 0, 'no page is left');
    await until(async () => (await keys('{sites:*')).length === 0, 'the index is empty');
  });

  it('keeps its last two builds, whatever their age and however many other sites have', async () => {
    fleet = await Fleet.start({ janitor: true, env: { RETENTION_EVERY: '300ms', RETENTION_AGE: '1s' } });
    const site = await TestSite.create(fleet);
    const other = await TestSite.create(fleet);
    for (let i = 1; i <= 4; i += 1) {
      for (const one of [site, other]) {
        await one.put('post', String(i));
        await one.untilBuilt();
      }
    }
    const kept = async (one: TestSite): Promise<BuildSeen[]> =>
      (await one.view()).builds.filter(({ state }) => state !== 'removed');
    for (const one of [site, other]) {
      const two = await until(async () => {
        const builds = await kept(one);
        return builds.length === 2 && builds;
      }, 'two builds are left');
      expect(two.map(({ version, current }) => [version, current])).toEqual([
        [4, true],
        [3, false],
      ]);
    }
    const swept = (): number => fleet.janitors[0]!.facts().filter(isDone('retention')).length;
    const before = swept();
    await until(() => swept() >= before + 3, 'it is swept again');
    expect([(await kept(site)).length, (await kept(other)).length]).toEqual([2, 2]);
    await site.text('/post/4');
    await other.text('/post/4');
  });

  it('that changes all the time fills no disk, and has no readable page once it is deleted', async () => {
    fleet = await Fleet.start();
    const site = await TestSite.create(fleet);
    for (let i = 1; i <= 6; i += 1) {
      await site.put('post', String(i));
      await site.untilBuilt();
    }
    const built = (await site.view()).builds.map(({ id }) => id);
    const withPages = async (): Promise<string[]> => {
      const paths = await files();
      return built.filter((id) => paths.some((path) => path.includes(id)));
    };
    await until(async () => (await withPages()).length === 2, 'the pages of two builds are left', 60_000);
    expect(await withPages()).toEqual(built.slice(0, 2));
    await site.text('/post/6');
    expect(await site.delete()).toBe(204);
    await until(async () => (await files()).length === 0, 'no page is left');
    const pages = built.map((id) => fetch(`${fleet.url}/v1/jobs/${id}/artifacts/pages-1`));
    expect((await Promise.all(pages)).map(({ status }) => status)).toEqual(built.map(() => 404));
  });

  it('that exists keeps its jobs; the sweep removes those of one that does not', async () => {
    fleet = await Fleet.start({
      workers: 0,
      janitor: true,
      env: { OWNER_GRACE: '300ms', ORPHAN_SWEEP_EVERY: '200ms' },
    });
    const site = await TestSite.create(fleet);
    // The last two ids belong to another service and are unknown here.
    const owners = [`site:${'0'.repeat(20)}`, `site:${site.id}`, 'site:42', 'site:due'];
    const [gone, ...kept] = await Promise.all(
      owners.map((one) => fleet.probe({}, { owners: [one], delay: '1h' })),
    );
    await fleet.untilState(gone!, 'removed');
    const swept = (): number => fleet.janitors[0]!.facts().filter(isDone('orphans')).length;
    const before = swept();
    await until(() => swept() >= before + 3, 'it is swept again');
    const states = (await Promise.all(kept.map((id) => fleet.job(id)))).map(({ state }) => state);
    expect(states).toEqual(['delayed', 'delayed', 'delayed']);
  });

  it('accepts no changes while its owner is closed, and shows what it has', async () => {
    fleet = await Fleet.start();
    const site = await TestSite.create(fleet);
    await site.put('post', '1');
    await site.untilBuilt();
    const owner = `/v1/owners/site/${site.id}`;
    await fleet.request('POST', `${owner}/cancel`, { reason: 'too much' });
    const refused = await fleet.request('PUT', `/v1/sites/${site.id}/entities/post/2`, {});
    expect(refused).toMatchObject({ status: 409, body: { code: 'OWNER_CLOSED' } });
    expect(await site.view()).toMatchObject({ version: 1 });
    await site.text('/post/1');
    await fleet.request('POST', `${owner}/reopen`);
    expect(await site.put('post', '2')).toBe(201);
    await site.untilBuilt();
    await site.text('/post/2');
  });

  it('is built as soon as builds succeed again, without another change', async () => {
    fleet = await Fleet.start();
    const site = await TestSite.create(fleet);
    const aside = `${fleet.artifacts}-aside`;
    await rename(fleet.artifacts, aside);
    await writeFile(fleet.artifacts, 'no folder');
    await site.put('post', '1');
    await until(async () => (await site.view()).builds[0]?.state === 'failed', 'the build has failed');
    await unlink(fleet.artifacts);
    await rename(aside, fleet.artifacts);
    await site.untilBuilt(60_000);
    await site.text('/post/1');
  });

  it('answers invalid input with a problem', async () => {
    fleet = await Fleet.start({ workers: 0 });
    const { id } = await TestSite.create(fleet);
    const entity = `/v1/sites/${id}/entities`;
    const refused = async (...call: Parameters<Fleet['request']>): Promise<unknown[]> => {
      const { status, headers, body } = await fleet.request(...call);
      return [status, headers.get('content-type')?.split(';')[0], body['code']];
    };
    const problem = 'application/problem+json';
    expect([
      await refused('PUT', `${entity}/post/1`, [1]),
      await refused('PUT', `${entity}/post/1`, { title: 7 }),
      await refused('PUT', `${entity}/po%2Fst/1`, {}),
      await refused('PUT', `${entity}/post/a%2Fb`, {}),
      await refused('PUT', `${entity}/post/%00`, {}),
      await refused('PUT', `${entity}/post/${'é'.repeat(50)}a`, {}),
      await refused('PUT', `${entity}/post/1`, `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
      await refused('PUT', `${entity}/post/1`, { body: 'x', more: 'y'.repeat(65_536) }),
      await refused('PUT', '/v1/sites/unknown/entities/post/1', {}),
      await refused('GET', `/v1/sites/${'0'.repeat(20)}`),
      await refused('DELETE', `/v1/sites/${'0'.repeat(20)}`),
      await refused('POST', '/v1/sites', { name: ' ', pace: '1h' }),
      await refused('POST', '/v1/sites', { url: 'javascript:alert(1)' }),
      await refused('PATCH', `/v1/sites/${id}`),
      await refused('GET', `/sites/${id}/post/%ff`),
    ]).toEqual([
      [400, problem, 'INVALID'],
      [400, problem, 'INVALID'],
      [400, problem, 'INVALID'],
      [400, problem, 'INVALID'],
      [400, problem, 'INVALID'],
      [400, problem, 'INVALID'],
      [400, problem, 'INVALID'],
      [413, problem, 'TOO_LARGE'],
      [404, problem, 'NOT_FOUND'],
      [404, problem, 'NOT_FOUND'],
      [404, problem, 'NOT_FOUND'],
      [400, problem, 'INVALID'],
      [400, problem, 'INVALID'],
      [405, problem, 'METHOD_NOT_ALLOWED'],
      [expect.any(Number), problem, expect.any(String)],
    ]);
    const nested = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const statuses = [];
    for (const levels of [100, 101]) {
      const answer = await fleet.request('PUT', `${entity}/post/${'é'.repeat(50)}`, nested(levels));
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([201, 400]);
    for (const path of ['', '/', '/post/1']) {
      const wrong = await fetch(`${fleet.url}/sites/${id}${path}`, { method: 'POST' });
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });

  it('is changed only with an api key, and read without one', async () => {
    const keyOf = (name: string): string => createHash('sha256').update(name).digest('hex');
    fleet = await Fleet.start({
      env: { API_KEYS: `w:enqueue+read:${keyOf('w')},r:read:${keyOf('r')},c:cancel:${keyOf('c')}` },
    });
    const as = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
    const { body } = await fleet.request('POST', '/v1/sites', {}, as('w'));
    const path = `/v1/sites/${String(body['id'])}`;
    const statuses = [];
    for (const [method, at, key] of [
      ['POST', '/v1/sites', 'r'],
      ['PUT', `${path}/entities/post/1`, 'r'],
      ['PUT', `${path}/entities/post/1`, 'w'],
      ['GET', path, 'c'],
      ['GET', path, 'r'],
      ['DELETE', path, 'w'],
    ] as const)
      statuses.push((await fleet.request(method, at, method === 'GET' ? undefined : {}, as(key))).status);
    expect(statuses).toEqual([403, 403, 201, 403, 200, 403]);
    await until(
      async () => (await fetch(`${fleet.url}/sites/${String(body['id'])}/post/1`)).ok,
      'everybody can read it',
    );
    expect((await fetch(`${fleet.url}/demo/sites`)).status).toBe(404);
    expect((await fleet.request('DELETE', path, undefined, as('c'))).status).toBe(204);
  });

  /** Waits until a build has read the entities and is about to write; returns its id. */
  function untilRead(site: TestSite): Promise<string> {
    return until(async () => {
      const [newest] = (await site.view()).builds;
      const { state, progress, id } = await fleet.job(newest!.id);
      return state === 'running' && typeof progress === 'object' && progress !== null && id;
    }, 'a build has read what there is');
  }

  async function files(): Promise<string[]> {
    const all = await readdir(fleet.artifacts, { recursive: true, withFileTypes: true });
    const paths = all.filter((each) => each.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`);
    // The fleet's own marker stays.
    return paths.filter((path) => !path.includes('/fleets/'));
  }

  async function keys(pattern: string): Promise<string[]> {
    const redis = new Redis(fleet.storeUrl);
    const found: string[] = [];
    for await (const page of redis.scanStream({ match: `${fleet.prefix}:${pattern}`, count: 1_000 }))
      found.push(...(page as string[]));
    await redis.quit();
    return found;
  }
});

function isDone(kind: string): (fact: Record<string, unknown>) => boolean {
  return ({ event, sweep }) => event === 'sweep.done' && sweep === kind;
}
