import { afterAll, describe, expect, it } from 'vitest';
import { inkIn } from '../../../../../../test/support/ink.js';
import { Renderers } from '../renderers.js';
import type { Output, Rendered } from '../types.js';

const { signal } = new AbortController();
const renderers = new Renderers({ chromium: 'off' });
const draw = (source: string, output: Output = 'svg'): Promise<Rendered> =>
  renderers.render({ type: 'd2', source, output }, signal);
const config = (line: string): string => `vars: {\n  d2-config: {\n    ${line}\n  }\n}\n`;

afterAll(() => renderers.close());

describe('D2', () => {
  it.each([
    ['a sketch', `${config('sketch: true')}quay -> berth`],
    ...['dots', 'lines', 'grain', 'paper'].map((name) => [
      `a pattern of ${name}`,
      `quay: {style.fill-pattern: ${name}}\nquay -> berth`,
    ]),
  ])('draws %s', async (_, source) => {
    const { bytes } = await draw(source);
    expect(bytes.toString()).toMatch(/<pattern [^>]*>[^]*url\(#/);
    expect(inkIn((await draw(source, 'png')).bytes).share).toBeGreaterThan(0.01);
  });

  it('lays out with the engine that the source names', async () => {
    const edges = 'a -> b -> c\na -> c: x\nb -> d';
    const elk = await draw(config('layout-engine: elk') + edges);
    const dagre = await draw(config('layout-engine: dagre') + edges);
    const pathsIn = ({ bytes }: Rendered): string[] => bytes.toString().match(/ d="M [^"]*"/g)!;
    expect(pathsIn(await draw(edges))).toEqual(pathsIn(dagre));
    expect(pathsIn(elk)).not.toEqual(pathsIn(dagre));
    // ELK's lines have right angles, dagre's are curves.
    expect(pathsIn(dagre).join(' ')).toContain('C');
    expect(pathsIn(elk).join(' ')).not.toContain('C');
  });

  it('draws Markdown with its titles, its styles, its lists and its tables, within its box', async () => {
    const markdown = [
      '# Quay',
      '',
      'A **bold** and *slanted* `word`',
      '',
      '- first',
      '- second',
      '',
      '1. one',
      '',
      '| Name | Size |',
      '| --- | --- |',
      '| berth | 10 |',
      '',
      '```',
      'let  x',
      '```',
    ].join('\n  ');
    const svg = (await draw(`note: |\`md\n  ${markdown}\n\`|`)).bytes.toString();
    const spanOf = (text: string): string => new RegExp(`<tspan [^>]*>${text}</tspan>`).exec(svg)?.[0] ?? '';
    expect(spanOf('Quay')).toMatch(/font-semibold.*font-size="32"/);
    expect(spanOf('bold')).toContain('font-bold');
    expect(spanOf('slanted')).toContain('font-italic');
    expect(spanOf('word')).toContain('font-mono');
    expect(spanOf('let\u00A0\u00A0x')).toContain('font-mono');
    expect(svg.match(/>(?:•|1\.)<\/text>/g)).toEqual(['>•</text>', '>•</text>', '>1.</text>']);
    const placeOf = (text: string): string[] =>
      new RegExp(`<text x="([^"]*)" y="([^"]*)"><tspan [^>]*>${text}<`).exec(svg)!.slice(1);
    expect(placeOf('Size')[0]).toBe(placeOf('10')[0]);
    expect(placeOf('Name')[1]).toBe(placeOf('Size')[1]);
    const [, height] = /<svg[^>]* viewBox="0 0 \S+ (\S+)"/.exec(svg)!;
    expect(Number(placeOf('let\u00A0\u00A0x')[1])).toBeLessThan(Number(height));
  });

  it('reports omitted images and marks their places', async () => {
    const icon = 'https://icons.test/quay.svg';
    const { bytes, warnings } = await draw(`a: { shape: image; icon: ${icon} }\nb: { icon: ${icon} }`);
    expect(warnings).toEqual([`An image is left out, since images are not fetched: ${icon}`]);
    expect(bytes.toString().match(/class="image-left-out"/g)).toHaveLength(2);
    expect((await draw('a -> b')).warnings).toEqual([]);
  });

  it('draws a PNG with its own fonts, so that no text is wider than its box', async () => {
    const { width, from, to } = inkIn(
      (await draw('wide: "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM" {shape: text}', 'png')).bytes,
    );
    // Two dots a pixel, and a margin of 20 pixels.
    expect(from).toBeGreaterThanOrEqual(38);
    expect(to).toBeLessThanOrEqual(width - 38);
  });
});
