import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../../../../test/support/fleet.js';
import { startOdd } from '../../../../test/support/odd-worker.js';
import type { TestProcess } from '../../../../test/support/process.js';
import { seededRandom } from '../../../../test/support/random.js';
import { isOver, TestSite, type SiteSeen } from '../../../../test/support/sites.js';
import { until } from '../../../../test/support/until.js';
import { entityPage, homePage, listPage, sitemap, STYLE, titleOf } from './build/pages.js';
import { entityRoute, listRoute, STATIC_ROUTES, type Route } from './build/routes.js';
import { asksForBuild, type Entity, type EntityContent } from './site.js';

/** Part of the test's name, to replay a failure: SEED=… npm test -- libs/workloads/sites */
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const WRITERS = 4;
const EVENTS = 2_000;
const KILLS = 4;
const TYPES = ['post', 'event', 'berth', 'profile', 'site-info'];
const IDS = 12;
/** Pages of a sitemap that are read in one round. */
const SAMPLE = 10;

describe('entities that change at four processes while some are killed', () => {
  let fleet: Fleet;
  let apis: TestProcess[];
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 2, janitor: true, env: { WORKER_LOCK: '1s', LOG_LEVEL: 'info' } });
    apis = Array.from({ length: WRITERS }, () => fleet.addApi());
    await Promise.all(apis.map((api) => fleet.untilReady(api)));
  });
  afterEach(() => fleet.stop());

  it(
    `are in the end what readers get, byte for byte, and nothing else (${EVENTS} events, seed ${SEED})`,
    async () => {
      const random = seededRandom(SEED);
      const site = await TestSite.create(fleet, { name: 'Harbour' });
      const model = new Map<string, Entity>();
      const progress = { events: 0 };
      const reader = new AbortController();
      const seen = watch(site, reader.signal);
      try {
        const writers = Array.from({ length: WRITERS }, (_, i) =>
          write(i, site, model, seededRandom(Math.floor(random() * 2 ** 31)), progress),
        );
        const kills = killSome(site, model, random, progress);
        await Promise.all([...writers, kills]);

        // No build runs or waits, and no live process requests the last change.
        await until(async () => (await site.view()).builds.every(isOver), 'it is quiet', 60_000);
        await changeAndDie(site, 'last');
        model.set('clock/last', { type: 'clock', id: 'last', content: {} });
        const view = await site.untilBuilt(60_000);
        await expectShown(site, view, [...model.values()]);
      } finally {
        reader.abort();
      }
      const { wrong, rounds } = await seen;
      expect(wrong).toEqual([]);
      expect(rounds).toBeGreaterThan(0);
    },
    4 * 60_000,
  );

  /**
   * Each writer has its own entities, so it knows their state; a write whose process is killed is repeated
   * once.
   */
  async function write(
    writer: number,
    site: TestSite,
    model: Map<string, Entity>,
    random: () => number,
    progress: { events: number },
  ): Promise<void> {
    for (let n = 1; n <= EVENTS / WRITERS; n += 1) {
      const type = TYPES[Math.floor(random() * TYPES.length)]!;
      const id = `${writer}-${Math.floor(random() * IDS)}`;
      const name = `${type}/${id}`;
      if (model.has(name) && random() < 0.3) {
        await insist(writer, site, (at) => at.remove(type, id), [204, 404]);
        model.delete(name);
      } else {
        const content: EntityContent = { title: `${n} <of> ${writer}`, body: `${random()}` };
        await insist(writer, site, (at) => at.put(type, id, content), [200, 201]);
        model.set(name, { type, id, content });
      }
      // One shared entity whose value only grows, so every reader can check the order.
      if (writer === 0)
        await insist(writer, site, (at) => at.put('clock', 'now', { title: `${n}` }), [200, 201]);
      if (writer === 0) model.set('clock/now', { type: 'clock', id: 'now', content: { title: `${n}` } });
      progress.events += 1;
    }
  }

  async function insist(
    writer: number,
    site: TestSite,
    ask: (at: TestSite) => Promise<number>,
    fine: readonly number[],
  ): Promise<void> {
    await until(async () => fine.includes(await ask(site.via(apis[writer]!))), 'it is answered');
  }

  /**
   * Kills apis and workers in turn and replaces them. The last worker dies after it offered a build that does
   * not count yet.
   */
  async function killSome(
    site: TestSite,
    model: Map<string, Entity>,
    random: () => number,
    progress: { events: number },
  ): Promise<void> {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until(() => progress.events >= (kill * EVENTS) / (KILLS + 1), 'some more events', 120_000);
      if (kill % 2 === 1) {
        const i = Math.floor(random() * WRITERS);
        apis[i]!.kill('SIGKILL');
        const next = fleet.addApi();
        await fleet.untilReady(next);
        apis[i] = next;
      } else if (kill === KILLS) {
        await diesBetweenOfferAndResult(site, model);
      } else {
        fleet.workers.shift()!.kill('SIGKILL');
        await fleet.untilReady(fleet.addWorker());
      }
    }
  }

  async function diesBetweenOfferAndResult(site: TestSite, model: Map<string, Entity>): Promise<void> {
    const victim = startOdd('worker', fleet, 'fail-point', {
      FAIL_POINT: 'after:sites/offer',
      WORKER_LOCK: '1s',
      LOG_LEVEL: 'info',
    });
    // One more change, in case the writers finish before that worker got a build.
    await until(async () => {
      if (victim.hasExited) return true;
      await insist(0, site, (at) => at.put('clock', 'end'), [200, 201]);
      model.set('clock/end', { type: 'clock', id: 'end', content: {} });
      return victim.hasExited;
    }, 'it died with a build');
    expect(await victim.exited).toEqual({ code: null, signal: 'SIGKILL' });
  }

  /** Writes a change through an api that dies before it requests a build. */
  async function changeAndDie(site: TestSite, id: string): Promise<void> {
    const victim = startOdd('api', fleet, 'fail-point', { FAIL_POINT: 'after:sites/change', PORT: '0' });
    await fleet.untilReady(victim);
    await site
      .via(victim)
      .put('clock', id)
      .catch(() => undefined);
    expect(await victim.exited).toEqual({ code: null, signal: 'SIGKILL' });
  }

  /**
   * Reads the site continuously. Returns what must not be seen, and how often one build was read as a whole.
   */
  async function watch(site: TestSite, signal: AbortSignal): Promise<{ wrong: string[]; rounds: number }> {
    const wrong = new Set<string>();
    let [newest, rounds] = [0, 0];
    while (!signal.aborted) {
      const broken = await brokenLinks(site).catch(() => undefined);
      if (broken) rounds += 1;
      for (const link of broken ?? []) wrong.add(link);
      const response = await site.page('/clock/now');
      const page = await response.text();
      // The store did not keep up; the reader is told to try again.
      if (response.status === 503 && page.includes('STORE_UNAVAILABLE')) continue;
      if (response.status !== 200) {
        if (newest > 0) wrong.add(`status ${response.status} after ${newest}`);
        continue;
      }
      const at = Number(/<h1>(\d+)<\/h1>/.exec(page)?.[1]);
      if (!page.endsWith('</html>\n')) wrong.add('half a page');
      if (!(at >= newest)) wrong.add(`${at} after ${newest}`);
      newest = at;
    }
    return { wrong: [...wrong], rounds };
  }

  /** Picks the pages to read. */
  const choice = seededRandom(SEED);

  /**
   * Checks that the links of the home page, a list, some pages and the sitemap exist. Undefined if the build
   * changed in between.
   */
  async function brokenLinks(site: TestSite): Promise<string[] | undefined> {
    const before = await site.view();
    const home = await site.text('/');
    const map = await site.text('/sitemap.xml');
    const listed = [...map.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, loc]) => loc!.slice(before.url.length));
    const lists = linksOf('/', home).filter((path) => path !== '/' && path !== '/style.css');
    const list = lists[Math.floor(choice() * lists.length)] ?? '/';
    const sample = listed.toSorted(() => choice() - 0.5).slice(0, SAMPLE);
    const paths = new Set([...linksOf('/', home), ...linksOf(list, await site.text(list)), ...sample]);
    const statuses = await Promise.all(
      [...paths].map(async (path) => {
        const response = await site.page(path);
        await response.text();
        return `${response.status} ${path}`;
      }),
    );
    const after = await site.view();
    if (!currentOf(before) || currentOf(before) !== currentOf(after)) return undefined;
    return statuses.filter((said) => !/^(200|503) /.test(said));
  }

  async function expectShown(site: TestSite, view: SiteSeen, entities: readonly Entity[]): Promise<void> {
    const expected = render(view, entities);
    expect(view.routes.map(({ path }) => path).toSorted()).toEqual([...expected.keys()].toSorted());
    for (const [path, page] of expected)
      expect({ path, page: await site.text(path) }).toEqual({ path, page });
    for (const type of TYPES)
      for (let i = 0; i < WRITERS * IDS; i += 1) {
        const { path } = entityRoute(type, `${i % WRITERS}-${Math.floor(i / WRITERS)}`);
        if (!expected.has(path))
          expect({ path, status: (await site.page(path)).status }).toEqual({ path, status: 404 });
      }
  }
});

function currentOf({ builds }: SiteSeen): string | undefined {
  return builds.find(({ current }) => current)?.id;
}

/** The targets of a page's links within its site. */
function linksOf(path: string, page: string): string[] {
  return [...page.matchAll(/href="([^"]+)"/g)].map(
    ([, href]) => new URL(href!, `http://site${path}`).pathname,
  );
}

/** The expected site, rendered from what the writers wrote. */
function render(site: SiteSeen, entities: readonly Entity[]): Map<string, string> {
  const inOrder = entities.toSorted((a, b) => (`${a.type}/${a.id}` < `${b.type}/${b.id}` ? -1 : 1));
  const notes = inOrder.filter(({ type }) => !asksForBuild(type)).slice(0, 20);
  const shown = inOrder.filter(({ type }) => asksForBuild(type));
  const types = [...new Set(shown.map(({ type }) => type))];
  const lists = new Map(
    types.map((type) => [
      type,
      shown.filter((one) => one.type === type).map((one) => ({ id: one.id, title: titleOf(one) })),
    ]),
  );
  const routes: Route[] = [
    ...shown.map(({ type, id }) => entityRoute(type, id)),
    ...types.map(listRoute),
    STATIC_ROUTES.home,
  ];
  return new Map([
    ...shown.map((one): [string, string] => [entityRoute(one.type, one.id).path, entityPage(site, one)]),
    ...types.map((type): [string, string] => [listRoute(type).path, listPage(site, type, lists.get(type)!)]),
    ['/', homePage(site, { lists, notes })],
    ['/style.css', STYLE],
    ['/sitemap.xml', sitemap(site, routes)],
  ]);
}
