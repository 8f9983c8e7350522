import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RENDER_LIMITS } from './limits.js';
import { poolsFor } from './pool/pools.js';
import { Renderers } from './renderers.js';
import { safeSvg } from './safe/safe-svg.js';
import { hostileMermaid } from '../../../../../test/support/hostile-mermaid.js';
import { dangersIn } from '../../../../../test/support/dangers.js';
import type { DiagramType } from './types.js';
import { DRAWERS, type DrawerName } from './drawers/load.js';

interface Hostile {
  readonly drawer: DrawerName;
  readonly source: string;
  /** Whether its renderer passes it on. The other sources only prove that their renderers still do not. */
  readonly getsThrough: boolean;
}

/** Sources that try to make a reader's browser run, load or follow something. */
const HOSTILE: readonly Hostile[] = [
  { drawer: 'graphviz', source: 'digraph { a [URL="javascript:alert(1)" label="x"] }', getsThrough: true },
  { drawer: 'graphviz', source: 'digraph { a [href="data:text/html,x" target="x"] }', getsThrough: true },
  { drawer: 'graphviz', source: 'digraph { stylesheet="http://evil.test/a.css"; a }', getsThrough: true },
  {
    drawer: 'graphviz',
    source: 'digraph { a [image="http://evil.test/a.png" shapefile="/etc/passwd"] }',
    getsThrough: false,
  },
  {
    drawer: 'graphviz',
    source: 'digraph { a [label="<script>alert(1)</script>" class="\\" onload=\\"alert(1)"] }',
    getsThrough: false,
  },
  { drawer: 'nomnoml', source: '[<script>alert(1)</script>|onload="x"] -> [b]', getsThrough: false },
  {
    drawer: 'nomnoml',
    source: '#stroke: red" onload="alert(1)\n#fill: url(http://evil.test)\n[a]->[b]',
    getsThrough: true,
  },
  { drawer: 'wavedrom', source: "{signal:[{name:['script',{},'alert(1)'],wave:'p'}]}", getsThrough: true },
  {
    drawer: 'wavedrom',
    source: "{signal:[{name:['image',{href:'http://evil.test/a.png',onload:'alert(1)'}],wave:'p'}]}",
    getsThrough: true,
  },
  {
    drawer: 'wavedrom',
    source: "{signal:[{name:['a',{'xlink:href':'javascript:alert(1)'},'x'],wave:'p'}]}",
    getsThrough: true,
  },
  {
    drawer: 'wavedrom',
    source: "{signal:[{name:['style','@import url(http://evil.test/a.css)'],wave:'p'}]}",
    getsThrough: true,
  },
  {
    drawer: 'wavedrom',
    source: "{signal:[{name:['style',['style'],'@import url(http://evil.test/a.css);'],wave:'p'}]}",
    getsThrough: true,
  },
  { drawer: 'pikchr', source: 'box "<script>alert(1)</script>" "\\" onload=\\"x"', getsThrough: false },
  { drawer: 'bytefield', source: '(draw-box "<script>alert(1)</script>" {:span 4})', getsThrough: true },
  {
    drawer: 'bytefield',
    source: '(draw-box "a" {:span 4 :onload "alert(1)" :fill "url(http://evil.test/#a)"})',
    getsThrough: true,
  },
  {
    drawer: 'svgbob',
    source:
      '+---+\n|{a}|\n+---+\n<script>alert(1)</script>\n# Legend:\na = {fill:url(http://evil.test/a);}\n',
    getsThrough: true,
  },
  {
    drawer: 'dbml',
    source:
      "Table a [note: '<script>alert(1)</script>', url: 'javascript:alert(1)'] {\n id int [note: 'x']\n}",
    getsThrough: true,
  },
  {
    drawer: 'vega-lite',
    source: JSON.stringify({
      data: { values: [{ link: 'javascript:alert(1)', text: '<script>alert(1)</script>', b: 1 }] },
      mark: 'point',
      encoding: {
        href: { field: 'link' },
        x: { field: 'b', type: 'quantitative' },
        tooltip: { field: 'text' },
      },
    }),
    getsThrough: true,
  },
  {
    drawer: 'd2',
    source:
      'a: {link: "javascript:alert(1)"; icon: http://evil.test/a.svg}\nb: |md <img src="x" onerror="alert(1)"/> |',
    getsThrough: true,
  },
  // D2 evaluates ids, formulas and colours as parts of a text: if they were executed, the process would exit.
  { drawer: 'd2', source: "'x`+process.exit(7)+`' -> y", getsThrough: false },
  { drawer: 'd2', source: "'${process.exit(7)}' -> y", getsThrough: false },
  { drawer: 'd2', source: 'a: |latex x`+process.exit(7)+`${process.exit(7)} |', getsThrough: false },
  {
    drawer: 'mermaid-jsdom',
    source: 'graph TD\n A["<img src=x onerror=alert(1)>"] --> B\n click A href "javascript:alert(1)"',
    getsThrough: false,
  },
  {
    drawer: 'mermaid-jsdom',
    source: 'graph TD\n A@{ img: "http://evil.test/a.png", label: "x", h: 60, w: 60 }',
    getsThrough: true,
  },
];

/** Sources that request something from outside: refused, or drawn without it. */
const REACHING: readonly { readonly drawer: DrawerName; readonly source: string }[] = [
  { drawer: 'vega-lite', source: '{"data":{"url":"/etc/passwd"},"mark":"bar"}' },
  { drawer: 'vega-lite', source: '{"data":{"url":"http://127.0.0.1:PORT/a.json"},"mark":"bar"}' },
  {
    drawer: 'vega-lite',
    source:
      '{"data":{"values":[{"u":"http://127.0.0.1:PORT/a.png"}]},"mark":"image","encoding":{"url":{"field":"u"}}}',
  },
  { drawer: 'nomnoml', source: '#import: /etc/passwd\n[a]' },
  { drawer: 'graphviz', source: 'digraph { a [image="/etc/passwd"] }' },
  {
    drawer: 'd2',
    source: `'x\`+(globalThis.told=process.getBuiltinModule?.("fs").readFileSync("/etc/passwd"))+\`' -> y`,
  },
  { drawer: 'd2', source: `a: |latex x\`+String(fetch("http://127.0.0.1:PORT/a"))+\`y |` },
  {
    drawer: 'd2',
    source:
      'vars: {d2-config: {sketch: true}}\na -> b: {style.stroke: "linear-gradient(to \\"+process.exit(7)+\\", red, blue)"}',
  },
  { drawer: 'd2', source: 'a: {icon: http://127.0.0.1:PORT/a.png}\n...@/etc/passwd' },
];

const { signal } = new AbortController();
const pools = poolsFor(RENDER_LIMITS, undefined);
const renderers = new Renderers({ chromium: 'off' });
const visits: string[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    visits.push(request.url ?? '');
    response.end('[]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  server.close();
  await Promise.all([renderers.close(), ...Object.values(pools).map((pool) => pool.close())]);
});

describe('a hostile source', () => {
  it('of Mermaid without a browser runs and loads nothing', async () => {
    const { port } = server.address() as AddressInfo;
    for (const source of hostileMermaid(`http://127.0.0.1:${port}`)) {
      const drawn = await renderers
        .render({ type: 'mermaid', source, output: 'svg' }, signal)
        .then(({ bytes }) => bytes.toString(), String);
      expect(drawn).toMatch(/<\/svg>$|^DiagramInvalid: /);
      if (drawn.endsWith('</svg>')) expect(dangersIn(drawn)).toEqual([]);
    }
    expect(visits).toEqual([]);
  });

  it.each(HOSTILE)(
    'of $drawer is drawn without its harm: $source',
    async ({ drawer, source, getsThrough }) => {
      const drawn = await rawDrawing(drawer, source);
      // Otherwise an empty picture would pass the test.
      expect(dangersIn(drawn).some(isHarm)).toBe(getsThrough);

      const { bytes } = await renderers.render({ type: typeOf(drawer), source, output: 'svg' }, signal);
      expect(dangersIn(bytes.toString())).toEqual([]);
      expect(bytes.toString()).toBe(safeSvg(drawn));
    },
  );

  it.each(REACHING)('of $drawer reaches nothing: $source', async ({ drawer, source }) => {
    const { port } = server.address() as AddressInfo;
    const request = {
      type: typeOf(drawer),
      source: source.replace('PORT', String(port)),
      output: 'svg',
    } as const;
    const said = await renderers.render(request, signal).then(
      ({ bytes }) => bytes.toString(),
      (error: Error) => `${error.name}: ${error.message}`,
    );
    expect(said).not.toContain('root:');
    expect(said).not.toContain('Its process ended');
    expect(visits).toEqual([]);
  });
});

/** The prologue of a picture is only omitted. */
function isHarm(danger: string): boolean {
  return !/^<(?:\?xml$|!)/.test(danger);
}

async function rawDrawing(drawer: DrawerName, source: string): Promise<string> {
  const answer = await pools[DRAWERS[drawer].weight].run(
    { do: 'draw', drawer, source, outputBytes: 1_000_000 },
    20_000,
    signal,
  );
  return answer.said === 'drawn' ? answer.svg : '';
}

function typeOf(drawer: DrawerName): DiagramType {
  return drawer.startsWith('mermaid') ? 'mermaid' : (drawer as DiagramType);
}
