import { Resvg } from '@resvg/resvg-js';
import { RenderLimit } from '../errors.js';
import { withPlainColours } from './colours.js';
import { withEmbeddedFonts } from './embedded-fonts.js';
import { fontsFor, withKnownFonts } from './fonts.js';
import { withPlainMarkers } from './markers.js';
import { withPlainSheets } from './sheets.js';

/** Sharp on a screen that has two dots a pixel. */
const ZOOM = 2;
/** Text is unreadable below this zoom. */
const LEAST_ZOOM = 0.5;

/** Where fonts are besides those that we bring. */
export interface FontFolders {
  /** That fonts of the drawing are written to while it is drawn. */
  readonly own?: string;
  /** Of the operator's. */
  readonly fallback?: string | undefined;
}

export function pngOf(svg: string, pixels: number, { own, fallback }: FontFolders = {}): Buffer {
  const { width, height } = new Resvg(svg, { font: { loadSystemFonts: false } });
  const zoom = Math.min(ZOOM, Math.sqrt(pixels / (width * height)));
  if (!(zoom >= LEAST_ZOOM)) {
    throw new RenderLimit('size', `As a PNG it is too large: ${Math.round(width)} by ${Math.round(height)}.`);
  }
  return withEmbeddedFonts(svg, own, (embedded) => {
    const plain = withPlainMarkers(withPlainColours(withPlainSheets(svg)));
    const drawing = new Resvg(withKnownFonts(plain, embedded), {
      fitTo: { mode: 'zoom', value: zoom },
      background: '#fff',
      font: fontsFor(svg, embedded, fallback),
    });
    return drawing.render().asPng();
  });
}
