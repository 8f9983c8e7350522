import { JSDOM } from 'jsdom';
import { afterAll, describe, expect, it } from 'vitest';
import { EXAMPLES } from './examples/examples.js';
import { Renderers } from './renderers.js';
import { dangersIn } from '../../../../../test/support/dangers.js';
import { inkIn } from '../../../../../test/support/ink.js';
import { DIAGRAM_TYPES, type DiagramType } from './types.js';

const { signal } = new AbortController();
/** Drawn without a browser here; another test draws Mermaid in one. */
const renderers = new Renderers({ chromium: 'off', pixels: 1_000_000 });

afterAll(() => renderers.close());

describe('the examples', () => {
  it('are at least two of each type', () => {
    const few = DIAGRAM_TYPES.filter((type) => EXAMPLES.filter((each) => each.type === type).length < 2);
    expect(few).toEqual([]);
  });

  it.each(EXAMPLES)('$type: $name is drawn, with its words, and is safe', async ({ type, source }) => {
    await renderers.check(type, source, signal);
    const { bytes, contentType, renderer } = await renderers.render({ type, source, output: 'svg' }, signal);
    expect(contentType).toBe('image/svg+xml');
    expect(renderer).toBe(await renderers.rendererOf(type));

    const svg = bytes.toString();
    expect(dangersIn(svg)).toEqual([]);
    const { document } = new JSDOM(svg, { contentType: 'image/svg+xml' }).window;
    const said = [...document.querySelectorAll('text')].map((each) => each.textContent).join(' ');
    expect(wordsOf(type, source).filter((word) => !said.includes(word))).toEqual([]);
  });

  it.each(EXAMPLES)('$type: $name is a PNG that is not empty', async ({ type, source }) => {
    const { bytes, contentType } = await renderers.render({ type, source, output: 'png' }, signal);
    expect(contentType).toBe('image/png');
    const { width, height, share } = inkIn(bytes);
    expect(Math.min(width, height)).toBeGreaterThan(100);
    expect(share).toBeGreaterThan(0.005);
  });
});

describe('an invalid source', () => {
  const wrong: [DiagramType, string, number | undefined, number | undefined][] = [
    ['graphviz', 'digraph {\n  a -> \n}', 3, 1],
    ['graphviz', 'digraph {\n  a [color=]\n}', 2, 12],
    ['graphviz', 'digraph {\n  a -> -> b\n}', 2, undefined],
    ['graphviz', 'digraph { a [label="x }', 1, undefined],
    ['mermaid', 'graph TD\n  A --> B\n  C --{ D', 3, 10],
    ['mermaid', 'nothing', undefined, undefined],
    ['d2', 'a -> b\nb: {', 2, 4],
    ['nomnoml', '[a]\n[b|c]]', 2, 5],
    ['vega-lite', '{\n  "mark": "bar",,\n}', 2, 17],
    ['vega-lite', '{"mark": "bar"', 1, 15],
    ['wavedrom', '{signal: [\n  {name: }\n]}', 2, 10],
    ['pikchr', 'box\nfoo bar', 2, 5],
    ['bytefield', '(draw-box "a")\n(foo)', 2, 2],
    ['dbml', 'Table a {\n  id\n}', 2, 5],
    ['svgbob', ' \n', 1, 1],
  ];
  it.each(wrong)('of %s is detected before it is drawn: %j', async (type, source, line, column) => {
    const at = { ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
    const error = await renderers.check(type, source, signal).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'DiagramInvalid', ...at });
    if (type === 'graphviz') expect((error as { column?: number }).column).toBe(column);
    await expect(renderers.render({ type, source, output: 'svg' }, signal)).rejects.toMatchObject({
      name: 'DiagramInvalid',
    });
  });
});

/** The words of a source that are in quotes or are names of more than four letters, and so are always shown. */
function wordsOf(type: DiagramType, source: string): string[] {
  const shown: Record<DiagramType, RegExp> = {
    graphviz: /label="([\w ]+)"/g,
    mermaid: /(?:participant \w as |[[({]+)([A-Z]\w+)/g,
    d2: /: ([A-Z]\w+)/g,
    nomnoml: /\[([A-Z]\w+)[\]|]/g,
    'vega-lite': /"title": "(\w+)/g,
    wavedrom: /(?:name|text): '([\w]+)/g,
    pikchr: /(?:box|oval|cylinder|text) "(\w+)"/g,
    bytefield: /draw-(?:box|gap) "([\w ]+)"/g,
    svgbob: /\b([a-zA-Z]{3,})\b/g,
    dbml: /^Table (\w+)/gm,
  };
  return [...source.matchAll(shown[type])].map(([, word]) => word!);
}
