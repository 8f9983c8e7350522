import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { dense } from '../../../../../test/support/dense.js';
import { isGone } from '../../../../../test/support/is-gone.js';
import { until } from '../../../../../test/support/until.js';
import { hostileMermaid } from '../../../../../test/support/hostile-mermaid.js';
import { MERMAID_SOURCES } from '../../../../../test/support/mermaid-sources.js';
import { wordsIn } from '../../../../../test/support/svg-words.js';
import { EXAMPLES } from './examples/examples.js';
import { RENDER_LIMITS } from './limits.js';
import { Renderers } from './renderers.js';
import { dangersIn } from '../../../../../test/support/dangers.js';
import { inkIn } from '../../../../../test/support/ink.js';
import { foldersOf, processesBelow } from '../../../../../test/support/processes.js';

const { signal } = new AbortController();
const SMALL = 'graph TD\n A[Start] --> B[End]';
/** More than it can draw in a minute. */
const ENDLESS = `graph TD\n${dense(62, (a, b) => `n${a} --> n${b}`)}`;
const warnings: string[] = [];
const renderers = new Renderers({ pixels: 1_000_000, warn: (text) => warnings.push(text) });

const browserless = new Renderers({ chromium: 'off' });

afterAll(() => Promise.all([renderers.close(), browserless.close()]));

describe('Mermaid in a browser', () => {
  it.each(EXAMPLES.filter(({ type }) => type === 'mermaid'))('draws $name', async ({ source }) => {
    const { bytes, renderer } = await renderers.render({ type: 'mermaid', source, output: 'svg' }, signal);
    expect(renderer).toMatch(/^mermaid [\d.]+ \(chromium\)$/);
    expect(dangersIn(bytes.toString())).toEqual([]);

    const png = await renderers.render({ type: 'mermaid', source, output: 'png' }, signal);
    expect(inkIn(png.bytes).share).toBeGreaterThan(0.01);
  });

  it.each(Object.entries(MERMAID_SOURCES))(
    'draws %s with all its words, as large as without a browser',
    async (_, { source, words }) => {
      const { bytes } = await renderers.render({ type: 'mermaid', source, output: 'svg' }, signal);
      const svg = bytes.toString();
      expect(dangersIn(svg)).toEqual([]);
      const shown = wordsIn(svg);
      expect(words.split(' ').filter((word) => !shown.includes(word))).toEqual([]);

      const without = await browserless.render({ type: 'mermaid', source, output: 'svg' }, signal);
      const [size, other] = [sizeOf(svg), sizeOf(without.bytes.toString())];
      for (const at of [0, 1]) expect(Math.abs(other[at]! / size[at]! - 1)).toBeLessThan(0.06);
    },
  );

  it('omits a picture that it cannot load, and nothing else', async () => {
    const source =
      'flowchart TD\n  A@{ img: "http://127.0.0.1:9/none.png", label: "Chart", w: 60, h: 60, constraint: "on" } --> B[Table]';
    const { bytes } = await renderers.render({ type: 'mermaid', source, output: 'svg' }, signal);
    expect(wordsIn(bytes.toString())).toMatch(/Chart.*Table|Table.*Chart/);
    expect(bytes.toString()).not.toMatch(/NaN|127\.0\.0\.1/);
  });

  it('shows the words of labels in HTML', async () => {
    const source = `flowchart TD
      A[fa:fa-car Drive on] --> B["<b>Bold</b> &amp; #quot;quoted#quot;"]`;
    const { bytes } = await renderers.render({ type: 'mermaid', source, output: 'svg' }, signal);
    expect(wordsIn(bytes.toString())).toBe('Drive on | Bold & "quoted"');
  });

  it.runIf(process.getuid?.() === 0)('reports once that root has no sandbox', async () => {
    await renderers.render({ type: 'mermaid', source: SMALL, output: 'svg' }, signal);
    expect(warnings).toEqual([expect.stringContaining('without its own sandbox')]);
  });

  it('reports the position of an error', async () => {
    const wrong = renderers.render(
      { type: 'mermaid', source: 'graph TD\n A --> B\n C --{ D', output: 'svg' },
      signal,
    );
    await expect(wrong).rejects.toMatchObject({ name: 'DiagramInvalid', line: 3 });
  });

  it('draws nothing hostile and fetches nothing', async () => {
    const visits: string[] = [];
    const server = createServer((request, response) => {
      visits.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const evil = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const source of hostileMermaid(evil)) {
      const drawn = await renderers
        .render({ type: 'mermaid', source, output: 'svg' }, signal)
        .then(({ bytes }) => bytes.toString(), String);
      // Drawn without its harm, or refused as invalid.
      expect(drawn).toMatch(/<\/svg>$|^DiagramInvalid: /);
      if (drawn.endsWith('</svg>')) expect(dangersIn(drawn)).toEqual([]);
    }
    server.close();
    expect(visits).toEqual([]);
  });

  it('ends within its limit, with its browser, and another process draws the next source', async () => {
    const strict = new Renderers({ timeMs: { ...RENDER_LIMITS.timeMs, mermaid: 6_000 } });
    await strict.render({ type: 'mermaid', source: SMALL, output: 'svg' }, signal);
    const before = processesBelow(process.pid);
    const began = Date.now();
    const endless = strict.render({ type: 'mermaid', source: ENDLESS, output: 'svg' }, signal);
    const how = await endless.then(
      () => 'drawn',
      (error: Error) => error.name,
    );
    expect(how).toBe('RenderLimit');
    expect(Date.now() - began).toBeLessThan(16_000);

    const { bytes } = await strict.render({ type: 'mermaid', source: SMALL, output: 'svg' }, signal);
    expect(bytes.toString()).toContain('Start');
    await strict.close();
    await until(
      () => before.length > 5 && processesBelow(process.pid).length < before.length,
      'they are gone',
    );
  });

  const phases = [0, 150, 300, 450, 600];
  it.each(phases)('leaves no process and no folder of a worker that is killed after %i ms', async (ms) => {
    const script = fileURLToPath(new URL('../../../../../test/support/drawing.mjs', import.meta.url));
    const worker = spawn(process.execPath, [script, 'mermaid', ENDLESS], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(worker.stdout, 'data');
    const started = await until(() => {
      const all = processesBelow(worker.pid!);
      return all.length > 6 && all;
    }, 'its browser runs');
    await pause(ms);
    expect(foldersOf(worker.pid!)).not.toEqual([]);

    worker.kill('SIGKILL');
    await until(() => started.every(isGone), 'all are gone', 15_000);
    // The worker of another test has its own.
    await until(() => foldersOf(worker.pid!).length === 0, 'no folder is left', 30_000);
  });
});

/** The width and the height of a picture; 1 each if it has none. */
function sizeOf(svg: string): number[] {
  const root = /^<svg[^>]*>/.exec(svg)![0];
  return ['width', 'height'].map((name) =>
    Number.parseFloat(new RegExp(` ${name}="([^"]*)"`).exec(root)?.[1] ?? '1'),
  );
}
