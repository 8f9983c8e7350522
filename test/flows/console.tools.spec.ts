import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apiKey } from '../support/api-keys.js';
import { accessibilityProblems } from '../support/axe.js';
import { Browser } from '../support/browser.js';
import { Fleet } from '../support/fleet.js';
import { answer, OwnerService } from '../support/owner-service.js';
import { root } from '../support/process.js';
import { until } from '../support/until.js';

const OWNER = 'trip:night';

describe('the console', () => {
  let service: OwnerService;
  let folder: string;
  let fleet: Fleet;
  let browser: Browser;
  let pages: Record<string, string>;

  beforeAll(async () => {
    service = await OwnerService.start();
    service.behave = (call) => answer(call, { gone: call.ids });
    folder = await mkdtemp(join(tmpdir(), 'mooring-console-'));
    const path = join(folder, 'resolvers.json');
    await writeFile(path, JSON.stringify({ ride: { http: { url: service.url, timeout: '10s' } } }));
    const env = { OWNER_RESOLVERS: path, OWNER_GRACE: '1500ms', ORPHAN_SWEEP_EVERY: '500ms', PROBE: 'on' };
    fleet = await Fleet.start({ workers: 1, janitor: true, env });
    pages = await setScene(fleet);
    browser = await Browser.open(`${fleet.url}/console`, 1280, 860);
    await browser.untilText('h1', /Overview/);
  });
  beforeEach(async () => {
    await browser.resize(1280, 860);
    await browser.prefer('light');
  });
  afterAll(async () => {
    await browser?.close();
    await fleet.stop();
    await service.stop();
    await rm(folder, { recursive: true });
  });

  async function show(path: string): Promise<void> {
    await browser.read(`location.hash = '#/'; location.hash = '#/${path}'`);
    await until(
      () =>
        browser.read<boolean>(`!!document.querySelector('main h1') && !document.querySelector('.loading')`),
      `${path} is read`,
    );
  }

  it('is where a browser that opens the api is sent, and a program is not', async () => {
    const asked = (accept: string) => fetch(fleet.url, { headers: { accept }, redirect: 'manual' });
    expect((await asked('text/html')).headers.get('location')).toBe('console');
    expect((await asked('application/json')).status).toBe(404);
  });

  it('lets nothing run that is not its own file', async () => {
    const page = await fetch(`${fleet.url}/console`);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(await page.text()).not.toMatch(/https?:|<style|\sstyle="|\son\w+="|<script(?![^>]*\ssrc=)/);
    expect(page.headers.get('set-cookie')).toBeNull();
  });

  it('takes at most 60 kB of script and 12 kB of style', () => {
    const assets = `${root}/dist/libs/console/public/assets`;
    const size = (ending: string): number =>
      readdirSync(assets)
        .filter((name) => name.endsWith(ending))
        .reduce((sum, name) => sum + gzipSync(readFileSync(`${assets}/${name}`), { level: 9 }).length, 0);
    expect(size('.js')).toBeGreaterThan(10_000);
    expect(size('.js')).toBeLessThanOrEqual(60_000);
    expect(size('.css')).toBeLessThanOrEqual(12_000);
  });

  it('shows every page, in light and dark, on a desk and on a phone, and a screen reader can read it', async () => {
    const found: Record<string, string[]> = {};
    for (const [name, path] of Object.entries(pages)) {
      for (const scheme of ['light', 'dark'] as const) {
        await browser.prefer(scheme);
        await browser.resize(1280, 860);
        await show(path);
        // Dark is the same page in other colours.
        const rules = scheme === 'dark' ? ['color-contrast'] : undefined;
        found[`${name}, ${scheme}`] = await accessibilityProblems(browser, rules);
        await browser.screenshot(`console-${name}-${scheme}.png`);
      }
      await browser.resize(360, 740);
      found[`${name}, phone`] = [];
      const width = await browser.read<number>('document.documentElement.scrollWidth');
      if (width > 360) found[`${name}, phone`]!.push(`it is ${width} px wide`);
      await browser.screenshot(`console-${name}-phone.png`);
    }
    expect(Object.fromEntries(Object.entries(found).filter(([, problems]) => problems.length > 0))).toEqual(
      {},
    );
    expect(browser.complaints).toEqual([]);
  });

  it('cancels an owner: finds it, shows what would go, and fills the receipt', async () => {
    await show('');
    await browser.key('/');
    await until(
      () => browser.read<boolean>(`document.activeElement?.matches('.query') ?? false`),
      'search is open',
    );
    await browser.type('trip:nig');
    await browser.untilText('#found', /trip:night/);
    await browser.key('Enter');
    await browser.untilText('h1', /trip:night\s+open/);
    await browser.press('.head', 'Cancel owner…');
    await browser.untilText('dialog .big', /3 jobs would be removed, 2 runs stopped/);
    await browser.screenshot('console-cancel-dialog.png');
    expect(await accessibilityProblems(browser)).toEqual([]);
    const isLocked = `[...document.querySelectorAll('dialog button')].at(-1).disabled`;
    expect(await browser.read(isLocked)).toBe(true);
    await browser.read(`document.querySelector('[name=typed-name]').focus()`);
    await browser.type(OWNER);
    await browser.press('dialog', `Cancel ${OWNER}`);
    await browser.untilText('h1', /Cancelled\s+trip:night\s+done/);
    await browser.untilText('main', /All its jobs have left/);
    await browser.screenshot('console-receipt.png');
    const { body } = await fleet.request('GET', `/v1/owners/trip/night`);
    expect(body).toMatchObject({ state: 'closed', counts: { jobs: 0, running: 0 } });
    expect(browser.complaints).toEqual([]);
  });

  it('retries all jobs that failed of one error, after it has counted them', async () => {
    await show('jobs?state=failed');
    await browser.press('.head', 'Retry failed…');
    await browser.untilText('dialog .big', /3 jobs/);
    await browser.screenshot('console-retry-dialog.png');
    await browser.press('dialog', 'Retry 3 jobs');
    await browser.untilText('h1', /Retry jobs\s+done/);
    await browser.screenshot('console-operation.png');
    expect(await browser.text('.stats')).toMatch(/Done\s+3/);
    expect(browser.complaints).toEqual([]);
  });

  it('explains a sweep that tripped, and forces it once its name is typed', async () => {
    await show('sweeps');
    const jobs = Array.from({ length: 25 }, (_, i) => ({
      kind: 'probe',
      owners: [`ride:${i}`],
      payload: {},
      delay: '1h',
    }));
    await fleet.request('POST', '/v1/jobs/batch', { jobs });
    await browser.untilText('.tripped', /The orphans sweep tripped[^]*25 of/);
    await browser.screenshot('console-tripped.png');
    expect(await accessibilityProblems(browser)).toEqual([]);
    await browser.press('.tripped', 'Force…');
    await until(
      () => browser.read<boolean>(`document.activeElement?.name === 'typed-name'`),
      'the dialog has the focus',
    );
    await browser.type('orphans');
    await browser.press('dialog', 'Force the orphans sweep');
    await browser.untilText('main', /Removed\s+25/);
    await show('sweeps');
    await until(() => browser.read<boolean>(`!document.querySelector('.tripped')`), 'it removes again');
    expect(browser.complaints).toEqual([]);
  });

  it('shows what changes without being asked', async () => {
    await show('owners/trip/live');
    const id = await fleet.probe({ ms: 1 }, { owners: ['trip:live'] });
    await browser.untilText('main', /completed/);
    await show(`jobs/${id}`);
    await browser.untilText('h1', /probe\s+completed/);
    await show('');
    const jobs = Array.from({ length: 200 }, (_, i) => ({
      kind: 'probe',
      owners: [`trip:${i}`],
      payload: { ms: i, failTimes: i % 9 === 0 ? 3 : 0 },
    }));
    await fleet.request('POST', '/v1/jobs/batch', { jobs });
    await until(
      () => browser.read<boolean>(`!!document.querySelector('.chart rect.bad')`),
      'failures are drawn',
    );
    await browser.screenshot('console-overview-live.png');
    expect(browser.complaints).toEqual([]);
  });

  it('needs nothing but a keyboard', async () => {
    await show('');
    for (const [key, title] of [
      ['o', 'Owners'],
      ['q', 'Overview'],
      ['s', 'Sweeps'],
      ['w', 'Workers'],
    ] as const) {
      await browser.key('g');
      await browser.key(key);
      await browser.untilText('h1', new RegExp(title));
    }
    await browser.key('?');
    await browser.untilText('dialog', /find anything/);
    await browser.key('Escape');
    await until(() => browser.read<boolean>(`!document.querySelector('dialog')`), 'help is closed');
    await browser.key('Control+k');
    await until(
      () => browser.read<boolean>(`document.activeElement?.matches('.query') ?? false`),
      'search is open',
    );
    await browser.type('Quarantine');
    await browser.untilText('#found', /^Quarantine/);
    await browser.key('Enter');
    await browser.untilText('h1', /Quarantine/);
    expect(browser.complaints).toEqual([]);
  });
});

describe('the console of an api with keys', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    const keys = [apiKey('watch', 'read'), apiKey('ops', 'read+cancel+admin')].join(',');
    fleet = await Fleet.start({ workers: 0, env: { API_KEYS: keys } });
  });
  afterAll(() => fleet.stop());

  it('asks for the key once, and shows no button that the key may not use', async () => {
    const browser = await Browser.open(`${fleet.url}/console#/owners/trip/1`, 1280, 860);
    const enter = async (key: string): Promise<void> => {
      await until(
        () => browser.read<boolean>(`!!document.querySelector('[name=key]')`),
        'it asks for the key',
      );
      await browser.read(`document.querySelector('[name=key]').focus()`);
      await browser.type(key);
      await browser.key('Enter');
    };
    try {
      await browser.untilText('main', /API_KEYS/);
      await browser.screenshot('console-key.png');
      expect(await accessibilityProblems(browser)).toEqual([]);
      // The first call has no key: the browser reports its 401.
      browser.complaints.length = 0;
      await enter('watch');
      await browser.untilText('h1', /trip:1/);
      expect(await browser.text('.head .actions')).toBe('');
      expect(await browser.text('.bar')).not.toMatch(/Operations/);
      await browser.read(`location.reload()`);
      await browser.untilText('h1', /trip:1/);
      expect(browser.complaints).toEqual([]);
      await browser.press('.bar', 'Forget the key');
      await enter('ops');
      await browser.untilText('.head .actions', /Cancel owner/);
      expect(await browser.read('document.cookie')).toBe('');
    } finally {
      await browser.close();
    }
  });
});

/** Jobs in every state, and the paths of the pages that show them. */
async function setScene(fleet: Fleet): Promise<Record<string, string>> {
  const done = await fleet.probe({ ms: 30, artifactBytes: 2_048 }, { owners: ['trip:42', 'driver:7'] });
  const failing = await Promise.all(
    ['1', '2', '3'].map((id) => fleet.probe({ failTimes: 3 }, { owners: [`trip:${id}`] })),
  );
  await fleet.untilState(done, 'completed');
  for (const id of failing) await fleet.untilState(id, 'failed');
  for (let i = 0; i < 2; i += 1) {
    const id = await fleet.probe({ ms: 600_000 }, { owners: [OWNER] });
    await fleet.untilState(id, 'running');
  }
  for (let i = 0; i < 3; i += 1) await fleet.probe({}, { owners: [OWNER], delay: '1h' });
  const order = { kind: 'probe', owners: ['site:1'], payload: { ms: 5 } };
  const flow = await fleet.request('POST', '/v1/flows', {
    ...order,
    children: [order, { ...order, children: [order] }],
  });
  await fleet.request('PUT', '/v1/schedules/nightly', { ...order, every: '1h' });
  const gone = await fleet.request('POST', '/v1/owners/trip/gone/cancel', {
    reason: 'deleted by its author',
  });
  const swept = await fleet.request('POST', '/v1/admin/sweeps/orphans', { dryRun: true });
  const body = { action: 'retry', filter: { kind: 'probe', state: 'failed' }, dryRun: true };
  const operation = await fleet.request('POST', '/v1/operations', body);
  await fleet.request('POST', '/v1/leases', { image: 'ubuntu', duration: '10m', owner: 'site:1' });
  return {
    overview: '',
    jobs: 'jobs',
    job: `jobs/${done}`,
    'failed-job': `jobs/${failing[0]}`,
    'no-jobs': 'jobs?owner=trip:none',
    owners: 'owners',
    owner: 'owners/trip/night',
    cancellations: 'cancellations',
    cancellation: `cancellations/${String(gone.body['cancelId'])}`,
    operations: 'operations',
    operation: `operations/${String(operation.body['operationId'])}`,
    sweeps: 'sweeps',
    sweep: `sweeps/${String(swept.body['sweepId'])}`,
    schedules: 'schedules',
    flow: `flows/${String(flow.body['id'])}`,
    workers: 'workers',
    quarantine: 'quarantine',
    audit: 'audit',
    leases: 'leases',
    kinds: 'kinds',
  };
}
