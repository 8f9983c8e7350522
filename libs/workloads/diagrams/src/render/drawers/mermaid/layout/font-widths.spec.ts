import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FontWidths } from './font-widths.js';

const FOLDER = dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'));

/** In the units of the font, 2048 to an em, from the font file. */
describe('the widths of a font', () => {
  const sans = new FontWidths(join(FOLDER, 'DejaVuSans.ttf'));

  it.each([
    ['i', 569],
    ['A', 1401],
    ['é', 1260],
    [' ', 651],
    ['', 0],
    ['iA', 569 + 1401],
  ])('of %j are those of its letters', (text, units) => {
    expect(sans.of(text)).toBe(units / 2048);
  });

  it('are the same for all letters of a monospaced font, even past the last one with an entry of its own', () => {
    const mono = new FontWidths(join(FOLDER, 'DejaVuSansMono.ttf'));
    for (const letter of 'iMé→█') expect([letter, mono.of(letter)]).toEqual([letter, 1233 / 2048]);
  });

  it.each([
    ['wide', '漢', 1],
    ['wide, beyond the first plane', '𠀀', 1],
    ['narrower', '\u{1200}', 0.6],
    ['nothing, where it stands over another', '\u{1dc4}', 0],
  ])('of letters that the font lacks are %s', (_, text, em) => {
    expect(sans.of(text)).toBe(em);
  });

  it('come with the height of its lines', () => {
    expect([sans.ascent, sans.descent]).toEqual([1901 / 2048, 483 / 2048]);
  });

  it('are not read from a font without a map of all Unicode', () => {
    const katex = dirname(createRequire(import.meta.url).resolve('katex/dist/fonts/KaTeX_AMS-Regular.ttf'));
    expect(() => new FontWidths(join(katex, 'KaTeX_AMS-Regular.ttf'))).toThrow(/no map of all Unicode/);
  });
});
