import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { dense } from '../../../../../test/support/dense.js';
import { isGone } from '../../../../../test/support/is-gone.js';
import { until } from '../../../../../test/support/until.js';
import type { DrawerName } from './drawers/load.js';
import { RendererBusy } from './errors.js';
import { RENDER_LIMITS, type RenderLimits } from './limits.js';
import { poolsFor } from './pool/pools.js';
import { Renderers } from './renderers.js';
import { memoryBelow, drawersBelow, secondsOf } from '../../../../../test/support/processes.js';
import type { DiagramType, Output, Rendered } from './types.js';

/** Sources that never end or use all memory, far beyond their limits: at least one of each type. */
const ENDLESS: readonly { readonly drawer: DrawerName; readonly source: string }[] = [
  { drawer: 'graphviz', source: `graph {${dense(140, (a, b) => `n${a}--n${b}`)}}` },
  { drawer: 'nomnoml', source: dense(100, (a, b) => `[n${a}]->[n${b}]`) },
  { drawer: 'wavedrom', source: `{signal:[{name:'a',wave:'${'p'.repeat(90_000)}'}]}` },
  { drawer: 'wavedrom', source: "{signal:[{name:'a',wave:'p',period:1e9}]}" },
  { drawer: 'pikchr', source: 'box;'.repeat(24_000) },
  { drawer: 'bytefield', source: `(doseq [i (range 9000)] (doseq [j (range 9000)] (str i j)))` },
  { drawer: 'svgbob', source: `${'/\\'.repeat(150)}\n${'\\/'.repeat(150)}\n`.repeat(160) },
  {
    drawer: 'dbml',
    source: `${Array.from({ length: 500 }, (_, at) => `Table t${at} {\n id int\n}`).join('\n')}\n${Array.from({ length: 2_600 }, (_, at) => `Ref: t${at % 500}.id > t${(at * 7 + 3) % 500}.id`).join('\n')}`,
  },
  {
    drawer: 'vega-lite',
    source: '{"data":{"sequence":{"start":0,"stop":3e8}},"mark":"point","encoding":{"x":{"field":"data"}}}',
  },
  { drawer: 'd2', source: dense(90, (a, b) => `n${a} -> n${b}`) },
  { drawer: 'mermaid-jsdom', source: `graph TD\n${dense(62, (a, b) => `n${a} --> n${b}`)}` },
];

/** A small one of each type. */
const SMALL: Record<DrawerName, string> = {
  graphviz: 'digraph { a -> b }',
  nomnoml: '[a] -> [b]',
  wavedrom: "{signal:[{name:'a',wave:'p..'}]}",
  pikchr: 'box "a"; arrow; box "b"',
  bytefield: '(draw-box "a" {:span 4})',
  svgbob: '+---+\n| a |\n+---+',
  dbml: 'Table a {\n id int\n}',
  'vega-lite':
    '{"data":{"values":[{"a":1}]},"mark":"bar","encoding":{"x":{"field":"a","type":"quantitative"}}}',
  d2: 'a -> b',
  'mermaid-chromium': 'graph TD\n A-->B',
  'mermaid-jsdom': 'graph TD\n A-->B',
  'mermaid-syntax': 'graph TD\n A-->B',
};

/** A minute of Graphviz without a pause. */
const STUCK = ENDLESS[0]!.source;
const { signal } = new AbortController();
let renderers: Renderers;

afterEach(() => renderers.close());

describe('an endless source', () => {
  it.each(ENDLESS)('of $drawer ends within its limit, and the next is drawn', async ({ drawer, source }) => {
    const type = typeOf(drawer);
    // Small sources take only a part of the limits, even on a busy machine.
    const limitMs = drawer === 'd2' ? 5_000 : 2_500;
    begin({ timeMs: { ...RENDER_LIMITS.timeMs, [type]: limitMs }, finishMs: 2_500 });
    await draw(type, SMALL[drawer]);
    const before = memoryBelow(process.pid);

    const began = Date.now();
    await expect(draw(type, source)).rejects.toMatchObject({
      name: 'RenderLimit',
      // A WebAssembly module that overflows its stack traps, which is a fault of its process.
      limit: expect.stringMatching(/^(time|memory|size|process)$/),
    });
    expect(Date.now() - began).toBeLessThan(limitMs + 6_000);

    expect((await draw(type, SMALL[drawer])).bytes.toString()).toContain('</svg>');
    await until(() => memoryBelow(process.pid) < before + 250, 'the memory is back');
  });

  it('of a PNG also ends within its limit, and the next is drawn', async () => {
    begin({ finishMs: 3_000 });
    await draw('pikchr', SMALL.pikchr, 'png');
    // A few bytes as SVG, and many seconds of work as a PNG.
    const dashes = 'line from 0,0 to 20,10 dashed 0.00005;'.repeat(50);
    expect((await draw('pikchr', dashes)).bytes.length).toBeLessThan(20_000);
    const began = Date.now();
    await expect(draw('pikchr', dashes, 'png')).rejects.toMatchObject({ limit: 'time' });
    expect(Date.now() - began).toBeLessThan(10_000);
    await expect(draw('pikchr', 'box width 9999 height 9999', 'png')).rejects.toMatchObject({
      limit: 'size',
    });
    expect((await draw('pikchr', SMALL.pikchr, 'png')).bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  it('is reported with the limit it reached, and its memory is freed', async () => {
    // Long enough for a busy machine to fill the memory.
    begin({ timeMs: { ...RENDER_LIMITS.timeMs, graphviz: 2_000, 'vega-lite': 60_000 } });
    await draw('graphviz', SMALL.graphviz);
    const before = memoryBelow(process.pid);

    await expect(draw('graphviz', STUCK)).rejects.toMatchObject({ name: 'RenderLimit', limit: 'time' });
    const sequence = ENDLESS.find(({ drawer }) => drawer === 'vega-lite')!.source;
    await expect(draw('vega-lite', sequence)).rejects.toMatchObject({ limit: 'memory' });
    await expect(draw('graphviz', `digraph { a [label="${'x'.repeat(1_048_576)}"] }`)).rejects.toMatchObject({
      limit: 'size',
    });

    await draw('graphviz', SMALL.graphviz);
    await until(() => memoryBelow(process.pid) < before + 150, 'the memory is back');
  });
});

describe('a render', () => {
  it('that is cancelled ends at once, with its process', async () => {
    begin();
    await draw('graphviz', SMALL.graphviz);
    const [first] = drawersBelow(process.pid);
    const stop = new AbortController();
    const drawn = renderers.render({ type: 'graphviz', source: STUCK, output: 'svg' }, stop.signal);
    drawn.catch(() => undefined);
    const before = secondsOf(first!);
    await until(() => secondsOf(first!) > before + 0.2, 'it draws');
    stop.abort(new Error('not wanted'));
    await expect(drawn).rejects.toThrow('not wanted');
    await until(() => isGone(first!), 'its process is gone');
    await draw('graphviz', SMALL.graphviz);
  });

  it('whose process is killed from outside fails alone', async () => {
    begin({ lightProcesses: 2 });
    await draw('graphviz', SMALL.graphviz);
    const [first] = drawersBelow(process.pid);
    const stuck = draw('graphviz', STUCK);
    stuck.catch(() => undefined);
    // The first render used the existing process; another one is started for this.
    await draw('graphviz', SMALL.graphviz);
    const others = draw('graphviz', SMALL.graphviz);
    process.kill(first!, 'SIGKILL');

    await expect(stuck).rejects.toMatchObject({
      limit: 'process',
      message: expect.stringContaining('SIGKILL'),
    });
    expect((await others).bytes.toString()).toContain('</svg>');
    expect((await draw('graphviz', SMALL.graphviz)).renderer).toMatch(/^@viz-js/);
  });

  it('is refused at once when its queue is full, and other renders are not', async () => {
    begin({ lightProcesses: 1, line: 2, timeMs: { ...RENDER_LIMITS.timeMs, graphviz: 1_000 } });
    const all = Promise.allSettled([1, 2, 3, 4].map(() => draw('graphviz', STUCK)));
    await expect(draw('nomnoml', '[a]')).rejects.toBeInstanceOf(RendererBusy);
    expect((await draw('dbml', SMALL.dbml)).bytes.toString()).toContain('</svg>');

    const names = (await all).map((each) => (each.status === 'rejected' ? (each.reason as Error).name : ''));
    expect(names).toEqual(['RenderLimit', 'RenderLimit', 'RenderLimit', 'RendererBusy']);
    await draw('nomnoml', '[a]');
  });

  it('has a process only for a limited time', async () => {
    begin({ renders: 2, lightProcesses: 1 });
    const used: number[] = [];
    for (let each = 0; each < 3; each += 1) {
      await draw('nomnoml', '[a]');
      used.push(...drawersBelow(process.pid).filter((pid) => !used.includes(pid)));
    }
    expect(used).toHaveLength(2);
    await renderers.close();

    begin({ idleMs: 50, lightProcesses: 1 });
    await draw('nomnoml', '[a]');
    await until(() => drawersBelow(process.pid).length === 0, 'no process is kept');
  });

  it('of Vega has a process of its own', async () => {
    begin();
    await draw('vega-lite', SMALL['vega-lite']);
    await until(() => drawersBelow(process.pid).length === 0, 'its process is gone');
  });

  it('limits the length of its error message', async () => {
    begin();
    const source = JSON.stringify({ mark: 'x'.repeat(90_000) });
    const error = await draw('vega-lite', source).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name: 'DiagramInvalid' });
    expect((error as Error).message.length).toBeLessThan(1_001);
  });

  it('that cannot be loaded, or is too large to send, is reported as such', async () => {
    const { light, ...others } = poolsFor(RENDER_LIMITS, undefined);
    const task = { do: 'draw', drawer: 'nomnoml', source: '[a]', outputBytes: 100 } as const;
    await expect(light.run(task, 20_000, signal)).rejects.toMatchObject({ limit: 'size' });
    const none = { ...task, drawer: 'none' as DrawerName };
    await expect(light.run(none, 20_000, signal)).rejects.toMatchObject({ limit: 'process' });
    await Promise.all([light, ...Object.values(others)].map((pool) => pool.close()));
  });

  it('costs little besides the drawing', async () => {
    begin();
    for (let warm = 0; warm < 20; warm += 1) await draw('graphviz', SMALL.graphviz);
    const took: number[] = [];
    for (let each = 0; each < 51; each += 1) {
      const began = performance.now();
      await draw('graphviz', SMALL.graphviz);
      took.push(performance.now() - began);
    }
    expect(took.toSorted((a, b) => a - b)[25]).toBeLessThan(100);
  });
});

describe('the processes of a worker', () => {
  it('end with it, even when it is killed and they are stuck', async () => {
    begin();
    const script = fileURLToPath(new URL('../../../../../test/support/drawing.mjs', import.meta.url));
    const worker = spawn(process.execPath, [script, 'graphviz', STUCK, 'off'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(worker.stdout, 'data');
    const drawing = await until(() => drawersBelow(worker.pid!)[0], 'it has a process');
    // Long enough that it has begun: it then uses a whole CPU.
    await until(() => secondsOf(drawing) > 0.8, 'it is stuck');

    worker.kill('SIGKILL');
    await until(() => isGone(drawing), 'its process is gone', 10_000);
  });
});

function begin(limits: Partial<RenderLimits> = {}): void {
  renderers = new Renderers({ chromium: 'off', ...limits });
}

async function draw(type: DiagramType, source: string, output: Output = 'svg'): Promise<Rendered> {
  return renderers.render({ type, source, output }, signal);
}

function typeOf(drawer: DrawerName): DiagramType {
  return drawer.startsWith('mermaid') ? 'mermaid' : (drawer as DiagramType);
}
