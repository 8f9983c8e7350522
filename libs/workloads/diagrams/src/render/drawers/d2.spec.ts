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
    const { bytes } = await draw(source!);
    expect(bytes.toString()).toMatch(/<pattern [^>]*>[^]*url\(#/);
    expect(inkIn((await draw(source!, 'png')).bytes).share).toBeGreaterThan(0.01);
  });

  it('lays out with the engine that the source names', async () => {
    const edges = 'a -> b -> c\na -> c: x\nb -> d';
    const elk = await draw(config('layout-engine: elk') + edges);
    const dagre = await draw(config('layout-engine: dagre') + edges);
    const pathsIn = ({ bytes }: Rendered): string[] => bytes.toString().match(/ d="M [^"]*"/g)!;
    expect(pathsIn(await draw(edges))).toEqual(pathsIn(dagre));
    expect(pathsIn(elk)).not.toEqual(pathsIn(dagre));
    // ELK's lines turn at right angles, dagre's are curves.
    expect(pathsIn(dagre).join(' ')).toContain('C');
    expect(pathsIn(elk).join(' ')).not.toContain('C');
  });

  it('draws a PNG with its own fonts, so that no text is wider than its place', async () => {
    const { width, from, to } = inkIn(
      (await draw('wide: "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM" {shape: text}', 'png')).bytes,
    );
    // Two dots a pixel, and 20 pixels around all that is drawn.
    expect(from).toBeGreaterThanOrEqual(38);
    expect(to).toBeLessThanOrEqual(width - 38);
  });
});
