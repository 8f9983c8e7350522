import { JSDOM } from 'jsdom';
import { afterAll, describe, expect, it } from 'vitest';
import { dangersIn } from '../../../../../test/support/dangers.js';
import { pixelsOf, shareOf } from '../../../../../test/support/ink.js';
import { MERMAID_SOURCES } from '../../../../../test/support/mermaid-sources.js';
import { wordsIn } from '../../../../../test/support/svg-words.js';
import { Renderers } from './renderers.js';

const { signal } = new AbortController();
const renderers = new Renderers({ chromium: 'off', pixels: 1_000_000 });

afterAll(() => renderers.close());

async function draw(source: string): Promise<string> {
  const { bytes, renderer } = await renderers.render({ type: 'mermaid', source, output: 'svg' }, signal);
  expect(renderer).toMatch(/^mermaid [\d.]+ \(jsdom\)$/);
  return bytes.toString();
}

describe('Mermaid without a browser', () => {
  it.each(Object.entries(MERMAID_SOURCES))('draws %s with all its words', async (_, { source, words }) => {
    await renderers.check('mermaid', source, signal);
    const svg = await draw(source);
    expect(dangersIn(svg)).toEqual([]);
    const shown = wordsIn(svg);
    expect(words.split(' ').filter((word) => !shown.includes(word))).toEqual([]);
  });

  const headers: [what: string, source: string, words: string][] = [
    ['statements after the header', 'graph TD; A[Rope]-->B[Knot]; B-->C', 'Rope Knot C'],
    [
      'front matter',
      '---\ntitle: Night shift\nconfig:\n  theme: forest\n---\nflowchart TD\n  A[Lamp] --> B',
      'Night shift Lamp B',
    ],
    [
      'a directive before a sequence',
      '%%{init: {"theme": "dark"}}%%\nsequenceDiagram\n  A->>B: Under a directive',
      'Under a directive',
    ],
    ['comments', '%% first\n\n%% second\npie\n "Oats" : 3', 'Oats'],
  ];
  it.each(headers)('reads %s', async (_, source, words) => {
    await renderers.check('mermaid', source, signal);
    const shown = wordsIn(await draw(source));
    expect(words.split(' ').filter((word) => !shown.includes(word))).toEqual([]);
  });

  it('colours a box of participants, and shows its title without the colour', async () => {
    const svg = await draw(
      'sequenceDiagram\n  box LightGrey Night crew\n  participant A\n  end\n  A->>A: ring',
    );
    expect(wordsIn(svg)).toContain('Night crew');
    expect(wordsIn(svg)).not.toContain('LightGrey');
    expect(svg).toMatch(/fill="lightgrey"/i);
  });

  it('measures lines without letters', async () => {
    const source =
      'eventmodeling\n\ntf 01 cmd SellTicket { price: number }\ntf 02 evt TicketSold { price: number }';
    expect(await draw(source)).toContain('SellTicket');
  });

  it('finds its elements by names that need escaping', async () => {
    const svg = await draw('erDiagram\n  sky-background ||--o{ SHIP : behind');
    expect(wordsIn(svg)).toContain('sky-background');
  });

  it('resets the settings and styles of the previous source', async () => {
    const source = MERMAID_SOURCES['stateDiagram']!.source;
    const alone = await draw(source);
    await draw(
      `%%{init: {"theme": "dark", "themeVariables": {"fontSize": "40px"}, "themeCSS": "text { font-size: 60px !important }"}}%%\n${source}`,
    );
    await draw(MERMAID_SOURCES['sequenceDiagram']!.source);
    expect(await draw(source)).toBe(alone);
  });

  it('omits a picture that it cannot load, and nothing else', async () => {
    const source =
      'flowchart TD\n  A@{ img: "http://127.0.0.1:9/none.png", label: "Chart", w: 60, h: 60, constraint: "on" } --> B[Table]';
    const svg = await draw(source);
    expect(wordsIn(svg)).toMatch(/Chart.*Table|Table.*Chart/);
    expect(svg).not.toMatch(/NaN|127\.0\.0\.1/);
  });

  it('shows the words of labels in HTML', async () => {
    const source = `flowchart TD
      A[fa:fa-car Drive on] --> B["<strong>Bold</strong> and <span style='color: red'>red</span>"]
      B --> C["&nbsp;Fish &amp; chips #quot;to go#quot;"]
      C --> D[fab:fa-github]
      D -->|fa:fa-spinner wait| E["List&lt;int&gt; &#x2665;"]`;
    const shown = wordsIn(await draw(source)).split(' | ');
    expect(shown.toSorted()).toEqual(
      ['Drive on', 'Bold and red', 'Fish & chips "to go"', 'github', 'wait', 'List<int> ♥'].toSorted(),
    );
  });

  it('parses entities where a semicolon would end the statement', async () => {
    const shown = wordsIn(
      await draw('sequenceDiagram\n  participant A as &quot;Quay&quot;\n  A->>B: 2 &lt; 3 List<int>'),
    );
    expect(shown).toContain('"Quay"');
    expect(shown).toContain('2 < 3 List<int>');
  });

  it('centres the labels of a mindmap in their shapes', async () => {
    const svg = await draw('mindmap\n  root((Allotment))\n    [Early beans]\n    {{Long spade}}\n    Plain');
    const { document } = new JSDOM(svg, { contentType: 'image/svg+xml' }).window;
    const labels = [...document.querySelectorAll('.mindmap-node > .label')];
    const placed = labels.map((label) => {
      const standsInTheMiddle = label.getAttribute('transform')!.startsWith('translate(0,');
      return [label.textContent, standsInTheMiddle, label.getAttribute('text-anchor')];
    });
    expect(placed).toEqual([
      ['Allotment', true, 'middle'],
      ['Early beans', true, 'middle'],
      ['Long spade', true, 'middle'],
      ['Plain', false, null],
    ]);
  });

  it.each(['flowchart TD\n  A -->|label| B', 'stateDiagram-v2\n  A --> B : label'])(
    'hides lines behind a label: %s',
    async (source) => {
      const sheet = /<style>([^]*?)<\/style>/.exec(await draw(source))![1]!;
      const rules = sheet.match(/[^{}]*edgeLabel[^{}]*\{[^{}]*\}/g) ?? [];
      expect(rules.join('')).toMatch(/opacity:1\b/);
      expect(rules.join('')).not.toMatch(/opacity:(?!1\b)|rgba\(/);
    },
  );

  const themes = ['base', 'forest'];
  const coloured = ['mindmap', 'timeline', 'gitGraph'];
  it.each(themes.flatMap((theme) => coloured.map((type): [string, string] => [type, theme])))(
    'paints a %s of the theme %s in colours, not in black',
    async (type, theme) => {
      const source = `---\nconfig:\n  theme: ${theme}\n---\n${MERMAID_SOURCES[type]!.source}`;
      const { bytes } = await renderers.render({ type: 'mermaid', source, output: 'png' }, signal);
      const isBlack = (red: number, green: number, blue: number): boolean => red + green + blue < 60;
      // Letters and lines are black.
      expect(shareOf(pixelsOf(bytes), isBlack)).toBeLessThan(0.035);
    },
  );
});
