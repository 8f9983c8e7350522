import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { safeSvg } from '../safe/safe-svg.js';
import { pngOf } from './png.js';

/** Fonts that look different from the bundled ones, and have letters that the bundled ones lack. */
const OTHERS = dirname(createRequire(import.meta.url).resolve('katex/dist/fonts/KaTeX_AMS-Regular.ttf'));
const ONLY_THERE = '\u{E00C}';
const PIXELS = 1_000_000;
let own: string;

beforeAll(async () => {
  own = await mkdtemp(join(tmpdir(), 'own-fonts-'));
});
afterAll(() => rm(own, { recursive: true }));

const svg = (inside: string): string =>
  safeSvg(`<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40">${inside}</svg>`);
const styled = (face: string): string =>
  svg(`<style>${face}.t{font-family:"my-font-bold",serif}</style><text class="t" x="5" y="30">Ahoy</text>`);
const brought = (name: string, type: string): string => {
  const data = readFileSync(join(OTHERS, name)).toString('base64');
  return styled(`@font-face{font-family:my-font-bold;src:url("data:${type};base64,${data}")}`);
};

describe('a PNG', () => {
  it('is drawn with the fonts that its picture contains', async () => {
    const woff = pngOf(brought('KaTeX_Script-Regular.woff', 'application/font-woff'), PIXELS, { own });
    const plain = pngOf(brought('KaTeX_Script-Regular.ttf', 'font/ttf'), PIXELS, { own });
    const other = pngOf(brought('KaTeX_Fraktur-Regular.woff', 'font/woff'), PIXELS, { own });
    expect(woff).toEqual(plain);
    expect(woff).not.toEqual(other);
    expect(woff).not.toEqual(pngOf(styled(''), PIXELS, { own }));
    expect(await readdir(own)).toEqual([]);
  });

  it.each([
    ['of another kind', readFileSync(join(OTHERS, 'KaTeX_Script-Regular.woff2'))],
    ['cut short', readFileSync(join(OTHERS, 'KaTeX_Script-Regular.woff')).subarray(0, 500)],
    ['with too many tables', Buffer.concat([Buffer.from('wOFF'), Buffer.alloc(8), Buffer.alloc(9_000, 255)])],
  ])('is drawn with a bundled font in place of a font %s', (_, font) => {
    const face = `@font-face{font-family:my-font-bold;src:url(data:font/woff;base64,${font.toString('base64')})}`;
    expect(pngOf(styled(face), PIXELS, { own })).toEqual(pngOf(styled(''), PIXELS));
  });

  it('has letters of the fallback fonts only where the bundled fonts lack them', () => {
    const text = (letters: string, fallback?: string): Buffer =>
      pngOf(svg(`<text x="5" y="30">${letters}</text>`), PIXELS, { fallback });
    expect(text('Ahoy', OTHERS)).toEqual(text('Ahoy'));
    expect(text(ONLY_THERE, OTHERS)).not.toEqual(text(ONLY_THERE));
  });
});
