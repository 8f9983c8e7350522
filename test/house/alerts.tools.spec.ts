import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { root } from '../support/process.js';
import { Promtool, type Checked } from '../support/promtool.js';
import { until } from '../support/until.js';

const RULES = 'deploy/alerts/mooring.rules.yml';
const TESTS = 'deploy/alerts/mooring.rules.test.yml';
const DASHBOARD = 'deploy/dashboards/mooring.json';
const MANUAL = 'docs/operating.md';
const APPS = ['api', 'worker', 'janitor'] as const;

type App = (typeof APPS)[number];

let promtool: Promtool;
let fleet: Fleet;
const pages = new Map<App, string>();

beforeAll(async () => {
  promtool = await Promtool.find();
}, 310_000);

beforeAll(async () => {
  fleet = await Fleet.start({ janitor: true });
  await fleet.untilState(await fleet.probe(), 'completed');
  const [api, janitor, worker] = fleet.processes;
  for (const [app, process] of Object.entries({ api, worker, janitor })) {
    pages.set(
      app as App,
      await until(async () => {
        const text = await (await fetch(`${process!.url}/metrics`)).text();
        // After the first measurement of the values that are measured at intervals.
        return (app !== 'janitor' || text.includes('mooring_queue_jobs{')) && text;
      }, `the ${app} has counted`),
    );
  }
});

afterAll(() => fleet?.stop());

describe('the metrics', () => {
  it.each(APPS)('of the %s pass the check of promtool', (app) => {
    expect(promtool.check(['check', 'metrics'], pages.get(app))).toEqual({ ok: true, said: '' });
  });

  it('are all in the manual, with their type, their labels and their apps', () => {
    expect(tableOf(read(MANUAL))).toEqual(metricsOf(pages));
  });
});

describe('the alerts', () => {
  it('are valid rules', () => {
    expect(promtool.check(['check', 'rules', join(root, RULES)])).toMatchObject({ ok: true });
  });

  it('fire when they should, and not just before', () => {
    const checked = promtool.check(['test', 'rules', join(root, TESTS)]);
    expect(checked.said).toContain('SUCCESS');
    expect(checked.ok).toBe(true);
  });

  it('are each tested firing and not firing', () => {
    const tests = read(TESTS);
    const told = [...tests.matchAll(/alertname: (\w+)\n +exp_alerts:\n +- exp_labels/g)];
    const silent = [...tests.matchAll(/alertname: (\w+), exp_alerts: \[\]/g)];
    for (const found of [told, silent]) {
      expect([...new Set(found.map(([, name]) => name!))].toSorted()).toEqual(alerts().toSorted());
    }
  });

  it('each have a description and a runbook section in the manual', () => {
    for (const rule of read(RULES)
      .split(/^ +- alert: /m)
      .slice(1)) {
      expect(rule).toMatch(/severity: (critical|warning)\n/);
      expect(rule).toMatch(/summary: \S/);
      expect(rule).toMatch(/description: \S/);
      const [, page, anchor] = /runbook_url: '\{\{ \$externalLabels\.docs \}\}(\S+)#(\S+)'/.exec(rule) ?? [];
      expect(page).toBe(MANUAL);
      expect(anchors()).toContain(anchor);
    }
  });

  it('are all in the manual', () => {
    for (const name of alerts()) expect(read(MANUAL)).toContain(`\`${name}\``);
  });

  function alerts(): string[] {
    return [...read(RULES).matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
  }
});

describe.each([RULES, DASHBOARD])('%s', (file) => {
  it('asks only for metrics that exist', () => {
    const known = [...metricsOf(pages).keys()];
    const asked = [...read(file).matchAll(/\bmooring_\w+/g)].map(([name]) => withoutSuffix(name, known));
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the dashboard', () => {
  const board = JSON.parse(read(DASHBOARD)) as Board;
  const panels = board.panels.filter(({ type }) => type !== 'row');

  it('has panels, each with a title, a description and valid queries', async () => {
    expect(board.title).toBe('Mooring');
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    expect(
      panels.filter(({ title, description, targets }) => !title || !description || !targets?.length),
    ).toEqual([]);
    const rules = panels
      .flatMap(({ targets = [] }) => targets)
      .map(({ expr }, i) => ({ record: `panel_${i}`, expr: filledIn(expr) }));
    expect(await checkRules(rules)).toMatchObject({ ok: true });
  });

  it('selects a fleet in every panel, and queues where its metrics have them', () => {
    const variables = board.templating.list.map(({ name }) => name);
    expect(variables).toEqual(['datasource', 'fleet', 'queue', 'kind', 'api', 'docs']);
    const asked = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(asked.filter((expr) => !expr.includes('fleet=~"$fleet"'))).toEqual([]);
    const manual = tableOf(read(MANUAL));
    const selectors = asked.flatMap((expr) => [...expr.matchAll(/(mooring_\w+)(\{[^}]*\})/g)]);
    const ofQueues = selectors.filter(([, name]) =>
      manual.get(withoutSuffix(name!, [...manual.keys()]))!.labels.includes('queue'),
    );
    expect(ofQueues.length).toBeGreaterThan(10);
    expect(ofQueues.filter(([, , labels]) => !labels!.includes('queue=~"$queue"'))).toEqual([]);
  });

  it('has limits where an alert has one, and links to the console and to sections of the manual', () => {
    expect(panels.filter(({ fieldConfig }) => fieldConfig.defaults.thresholds).length).toBeGreaterThan(10);
    expect(board.links.map(({ url }) => url)).toEqual(['${api}/console', `\${docs}${MANUAL}`]);
    const linked = panels.flatMap(({ links = [] }) =>
      links.map(({ url }) => url.split(`\${docs}${MANUAL}#`)[1]),
    );
    expect(linked).toHaveLength(panels.length);
    expect(linked.filter((anchor) => !anchors().includes(anchor!))).toEqual([]);
  });

  /** With a value for each variable of the board. */
  function filledIn(expr: string): string {
    return expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(fleet|queue|kind)/g, '.*');
  }

  async function checkRules(rules: readonly object[]): Promise<Checked> {
    const folder = await mkdtemp(join(tmpdir(), 'mooring-rules-'));
    try {
      // JSON is YAML as well.
      await writeFile(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'panels', rules }] }));
      return promtool.check(['check', 'rules', join(folder, 'rules.yml')]);
    } finally {
      await rm(folder, { recursive: true });
    }
  }
});

interface Board {
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly links: readonly { readonly url: string }[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly links?: readonly { readonly url: string }[];
  readonly fieldConfig: { readonly defaults: { readonly thresholds?: object } };
}

interface Metric {
  readonly type: string;
  readonly labels: string;
  readonly apps: string;
}

/**
 * The metrics of Mooring that the processes show. Labels that were never used are on no page; only the manual lists
 * them.
 */
function metricsOf(texts: ReadonlyMap<App, string>): Map<string, Metric> {
  const found = new Map<string, { type: string; apps: App[] }>();
  for (const app of APPS) {
    for (const [, name, type] of texts.get(app)!.matchAll(/^# TYPE (mooring_\w+) (\w+)$/gm)) {
      found.set(name!, { type: type!, apps: [...(found.get(name!)?.apps ?? []), app] });
    }
  }
  const manual = tableOf(read(MANUAL));
  return new Map(
    [...found].toSorted(byName).map(([name, { type, apps }]) => {
      const seen = labelsOf(name, [...texts.values()].join('\n')) ?? manual.get(name)?.labels ?? '?';
      return [name, { type, labels: seen, apps: apps.length === APPS.length ? 'all' : apps.join(', ') }];
    }),
  );
}

function labelsOf(name: string, text: string): string | undefined {
  const [, labels] = new RegExp(`^${name}(?:_sum)?\\{(.*)\\} `, 'm').exec(text) ?? [];
  const names = [...(labels ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label!);
  return (
    labels &&
    names
      .filter((label) => label !== 'app')
      .toSorted()
      .join(', ')
  );
}

function tableOf(manual: string): Map<string, Metric> {
  const rows = [...manual.matchAll(/^\| `(mooring_\w+)` \| (\w+) \| (.*?) ?\| ([\w, ]+) \|/gm)];
  return new Map(
    rows
      .map(([, name, type, labels, apps]): [string, Metric] => {
        const sorted = [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!).toSorted();
        return [name!, { type: type!, labels: sorted.join(', '), apps: apps!.trim() }];
      })
      .toSorted(byName),
  );
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Prometheus queries a histogram by its parts. */
function withoutSuffix(name: string, known: readonly string[]): string {
  return known.includes(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
}

/** The sections of the manual, as links name them. */
function anchors(): string[] {
  return [...read(MANUAL).matchAll(/^#+ (.+)$/gm)].map(([, title]) => anchorOf(title!));
}

/** The anchor that GitHub makes of a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
