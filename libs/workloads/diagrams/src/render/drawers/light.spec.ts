import { afterAll, describe, expect, it } from 'vitest';
import { Renderers } from '../renderers.js';
import type { DiagramType, Output } from '../types.js';

const { signal } = new AbortController();
const renderers = new Renderers({ chromium: 'off', lightProcesses: 1 });
const draw = async (type: DiagramType, source: string, output: Output = 'svg'): Promise<string> =>
  (await renderers.render({ type, source, output }, signal)).bytes.toString();

afterAll(() => renderers.close());

describe('Pikchr', () => {
  it("supports HTML's named characters", async () => {
    const svg = await draw(
      'pikchr',
      'box "90&deg; &lambda;&Omega; &szlig;&yuml; &frac12;" "&lt;b&gt; &amp;c; &none;"',
    );
    // Pikchr's blanks do not break.
    const said = svg.replaceAll('\u00A0', ' ');
    expect(said).toContain('90° λΩ ßÿ ½');
    expect(said).toContain('&lt;b&gt; &amp;c; &amp;none;');
  });

  it('draws the rest when the output of print statements is removed', async () => {
    const svg = await draw('pikchr', 'print "<svg>", 3*4\nbox "quay"');
    expect(svg).toMatch(/^<svg [^>]*>/);
    expect(svg).toContain('quay');
    expect(svg).not.toContain('&lt;svg');
  });
});

describe('nomnoml', () => {
  it.each(['svg', 'png'] as const)('refuses a source with only directives, as %s', async (output) => {
    await expect(draw('nomnoml', '#fill: red\n#direction: right', output)).rejects.toMatchObject({
      name: 'DiagramInvalid',
      message: expect.stringContaining('directives only'),
    });
    expect(await draw('nomnoml', '#fill: red\n[quay]', output)).toBeTruthy();
  });
});

describe('a link', () => {
  it('of a graph may contain a blank', async () => {
    const svg = await draw('graphviz', 'digraph { a [URL="https://a.test/?q=to the quay"] }');
    expect(svg).toContain('href="https://a.test/?q=to%20the%20quay"');
  });
});
