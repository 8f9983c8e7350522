import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { anchors, MANUAL, read, tableOf, withoutSuffix } from '../support/manual.js';
import { Promtool, type Checked } from '../support/promtool.js';

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

let promtool: Promtool;
beforeAll(async () => {
  promtool = await Promtool.find();
}, 310_000);

describe('the dashboard', () => {
  const board = JSON.parse(read('deploy/dashboards/mooring.json')) as Board;
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
