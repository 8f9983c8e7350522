import { Resvg } from '@resvg/resvg-js';
import { RenderLimit } from '../errors.js';
import { fontsFor, withOurFonts } from './fonts.js';
import { withPlainMarkers } from './markers.js';
import { withPlainSheets } from './sheets.js';

/** Sharp on a screen that has two dots a pixel. */
const ZOOM = 2;
/** Below this nobody can read it. */
const LEAST_ZOOM = 0.5;

export function pngOf(svg: string, pixels: number): Buffer {
  const { width, height } = new Resvg(svg, { font: { loadSystemFonts: false } });
  const zoom = Math.min(ZOOM, Math.sqrt(pixels / (width * height)));
  if (!(zoom >= LEAST_ZOOM)) {
    throw new RenderLimit('size', `As a PNG it is too large: ${Math.round(width)} by ${Math.round(height)}.`);
  }
  const drawing = new Resvg(withOurFonts(withPlainMarkers(withPlainSheets(svg))), {
    fitTo: { mode: 'zoom', value: zoom },
    background: '#fff',
    font: fontsFor(svg),
  });
  return drawing.render().asPng();
}
