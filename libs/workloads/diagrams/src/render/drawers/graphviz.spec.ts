import { instance } from '@viz-js/viz';
import { afterAll, describe, expect, it } from 'vitest';
import { Renderers } from '../renderers.js';
import { load } from './graphviz.js';

/** Leaves the memory of a Graphviz instance damaged: the next graph drawn in it traps. */
const DAMAGING = `digraph {
  newrank=true
  gate
  quay [label=<<table><tr><td port="a">quay</td></tr></table>>]
  subgraph cluster_yard { rank=same; label="yard"; crane; stack; subgraph cluster_lane { road; gate } }
  subgraph cluster_sea { label="sea"; berth; ship }
  subgraph cluster_port { label="port"; ship; subgraph cluster_dock { crane; berth } }
  subgraph roads { ship; subgraph cluster_rail { label="rail"; road; track } }
  { rank=source; ship; gate }
  { rank=same; quay; berth; stack; track }
  track -> crane
  stack -> crane
  crane -> track [label="load"]
  road -> track
  gate -> quay
  crane -> track
  stack -> ship
}`;
/** Graphviz itself fails on it, even as its first graph. */
const TRAPPING = `digraph {
  gate
  subgraph cluster_yard { label="yard"; crane; subgraph cluster_lane { ship; gate } }
  { rank=same; ship; quay }
  { rank=sink; crane; berth }
  crane -> gate
}`;

const { signal } = new AbortController();
const renderers = new Renderers({ chromium: 'off', lightProcesses: 1 });

afterAll(() => renderers.close());

describe('Graphviz', () => {
  it('draws each valid graph, even after graphs that damage their instance', async () => {
    const pictures = new Set<string>();
    for (let nth = 0; nth < 40; nth += 1) {
      const source = `/* ${nth} */ ${DAMAGING}`;
      const { bytes } = await renderers.render({ type: 'graphviz', source, output: 'svg' }, signal);
      pictures.add(bytes.toString());
    }
    expect(pictures.size).toBe(1);
  });

  it('reports its own failure as one of its process, not as too much to draw', async () => {
    const drawn = renderers.render({ type: 'graphviz', source: TRAPPING, output: 'svg' }, signal);
    await expect(drawn).rejects.toMatchObject({
      name: 'RenderLimit',
      limit: 'process',
      message: expect.stringContaining('Its renderer failed on it: Aborted(Assertion failed'),
    });
  });

  it.each([1, 2])('draws the next graph after an instance could not be created: instance %i', async (bad) => {
    let made = 0;
    const drawer = load(async () => {
      made += 1;
      if (made === bad) throw new Error('no memory');
      return instance();
    });
    const outcomes = [];
    for (let nth = 1; nth <= 3; nth += 1)
      outcomes.push(await Promise.resolve(drawer.draw('digraph { a }')).then(() => 'drawn', String));
    expect(outcomes).toEqual([1, 2, 3].map((nth) => (nth === bad ? 'Error: no memory' : 'drawn')));
  });
});
