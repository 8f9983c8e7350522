import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { anchors, byName, MANUAL, read, tableOf, withoutSuffix, type Metric } from '../support/manual.js';
import { root } from '../support/process.js';
import { Promtool } from '../support/promtool.js';
import { until } from '../support/until.js';

const RULES = 'deploy/alerts/mooring.rules.yml';
const TESTS = 'deploy/alerts/mooring.rules.test.yml';
const DASHBOARD = 'deploy/dashboards/mooring.json';
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
