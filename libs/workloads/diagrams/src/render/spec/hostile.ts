import type { DrawerName } from '../drawers/load.js';

interface Hostile {
  readonly drawer: DrawerName;
  readonly source: string;
  /** Whether its renderer lets it through; of the others it is only seen that they still do not. */
  readonly getsThrough: boolean;
}

/** Sources by which somebody wants a reader's browser to run, load or follow something. */
export const HOSTILE: readonly Hostile[] = [
  { drawer: 'graphviz', source: 'digraph { a [URL="javascript:alert(1)" label="x"] }', getsThrough: true },
  { drawer: 'graphviz', source: 'digraph { a [href="data:text/html,x" target="x"] }', getsThrough: true },
  { drawer: 'graphviz', source: 'digraph { stylesheet="http://evil.test/a.css"; a }', getsThrough: true },
  {
    drawer: 'graphviz',
    source: 'digraph { a [image="http://evil.test/a.png" shapefile="/etc/passwd"] }',
    getsThrough: true,
  },
  {
    drawer: 'graphviz',
    source: 'digraph { a [label="<script>alert(1)</script>" class="\\" onload=\\"alert(1)"] }',
    getsThrough: true,
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
  {
    drawer: 'mermaid-subset',
    source: 'graph TD\n A["<img src=x onerror=alert(1)>"] --> B\n click A href "javascript:alert(1)"',
    getsThrough: true,
  },
];

/** What asks for something outside: told that it cannot have it, or drawn without. */
export const REACHING: readonly { readonly drawer: DrawerName; readonly source: string }[] = [
  { drawer: 'vega-lite', source: '{"data":{"url":"/etc/passwd"},"mark":"bar"}' },
  { drawer: 'vega-lite', source: '{"data":{"url":"http://127.0.0.1:PORT/a.json"},"mark":"bar"}' },
  {
    drawer: 'vega-lite',
    source:
      '{"data":{"values":[{"u":"http://127.0.0.1:PORT/a.png"}]},"mark":"image","encoding":{"url":{"field":"u"}}}',
  },
  { drawer: 'nomnoml', source: '#import: /etc/passwd\n[a]' },
  { drawer: 'graphviz', source: 'digraph { a [image="/etc/passwd"] }' },
  { drawer: 'd2', source: 'a: {icon: http://127.0.0.1:PORT/a.png}\n...@/etc/passwd' },
];

const dense = (many: number, edge: (a: number, b: number) => string): string => {
  const lines: string[] = [];
  for (let a = 0; a < many; a += 1) for (let b = 0; b < a; b += 1) lines.push(edge(a, b));
  return lines.join('\n');
};

/** Sources that never end, or take all there is. Of each type one that its renderer does not survive, if there is any. */
export const ENDLESS: readonly { readonly drawer: DrawerName; readonly source: string }[] = [
  { drawer: 'graphviz', source: `graph {${dense(140, (a, b) => `n${a}--n${b}`)}}` },
  { drawer: 'nomnoml', source: dense(100, (a, b) => `[n${a}]->[n${b}]`) },
  { drawer: 'wavedrom', source: `{signal:[{name:'a',wave:'${'p'.repeat(90_000)}'}]}` },
  { drawer: 'wavedrom', source: "{signal:[{name:'a',wave:'p',period:1e9}]}" },
  { drawer: 'pikchr', source: 'box;'.repeat(24_000) },
  { drawer: 'bytefield', source: `(doseq [i (range 9000)] (doseq [j (range 9000)] (str i j)))` },
  { drawer: 'svgbob', source: `${'+-'.repeat(150)}\n${'| '.repeat(150)}\n`.repeat(160) },
  {
    drawer: 'dbml',
    source: `${Array.from({ length: 250 }, (_, at) => `Table t${at} {\n id int\n}`).join('\n')}\n${Array.from({ length: 1_500 }, (_, at) => `Ref: t${at % 250}.id > t${(at * 7 + 3) % 250}.id`).join('\n')}`,
  },
  {
    drawer: 'vega-lite',
    source: '{"data":{"sequence":{"start":0,"stop":3e8}},"mark":"point","encoding":{"x":{"field":"data"}}}',
  },
  { drawer: 'd2', source: dense(90, (a, b) => `n${a} -> n${b}`) },
  { drawer: 'mermaid-subset', source: `graph TD\n${dense(70, (a, b) => `n${a} --> n${b}`)}` },
];

/** A small one of each type. */
export const SMALL: Record<DrawerName, string> = {
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
  'mermaid-browser': 'graph TD\n A-->B',
  'mermaid-subset': 'graph TD\n A-->B',
  'mermaid-syntax': 'graph TD\n A-->B',
};
