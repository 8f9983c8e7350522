import { Resvg } from '@resvg/resvg-js';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { RenderLimit } from '../errors.js';

/** Sharp on a screen that has two dots a pixel. */
const ZOOM = 2;
/** Below this nobody can read it. */
const LEAST_ZOOM = 0.5;

const FOLDER = dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'));
const FONTS = readdirSync(FOLDER)
  .filter((name) => /^DejaVuSans(Mono|Condensed)?(-(Bold|Oblique|BoldOblique))?\.ttf$/.test(name))
  .map((name) => join(FOLDER, name));

/** Brings its own fonts: without any, all labels would be missing and nobody would be told. */
const FONT = {
  fontFiles: FONTS,
  loadSystemFonts: false,
  defaultFontFamily: 'DejaVu Sans Condensed',
  sansSerifFamily: 'DejaVu Sans Condensed',
  serifFamily: 'DejaVu Sans Condensed',
  cursiveFamily: 'DejaVu Sans Condensed',
  fantasyFamily: 'DejaVu Sans Condensed',
  monospaceFamily: 'DejaVu Sans Mono',
};

export function pngOf(svg: string, pixels: number): Buffer {
  const { width, height } = new Resvg(svg, { font: { loadSystemFonts: false } });
  const zoom = Math.min(ZOOM, Math.sqrt(pixels / (width * height)));
  if (!(zoom >= LEAST_ZOOM)) {
    throw new RenderLimit('size', `As a PNG it is too large: ${Math.round(width)} by ${Math.round(height)}.`);
  }
  return new Resvg(svg, { fitTo: { mode: 'zoom', value: zoom }, background: '#fff', font: FONT })
    .render()
    .asPng();
}
