import type { ResvgRenderOptions } from '@resvg/resvg-js';
import { unescaped } from '../escape.js';
import { dejaVuFile } from '../fonts/dejavu.js';
import { inMarkup } from '../markup.js';
import type { EmbeddedFonts } from './embedded-fonts.js';

/*
 * PNGs are drawn with bundled fonts, because without any font all labels would silently be missing. Each named font is replaced
 * by the closest bundled one, because the rasterizer would use the first available font for an unknown name.
 */

const STYLES = ['', '-Bold', '-Oblique', '-BoldOblique'];
const SERIF_STYLES = ['', '-Bold', '-Italic', '-BoldItalic'];

const MONO = filesOf('DejaVuSansMono', STYLES);
/** Both families call themselves by the name of the wide one. */
const WIDE = [...MONO, ...filesOf('DejaVuSans', STYLES), ...filesOf('DejaVuSerif', SERIF_STYLES)];
const NARROW = [
  ...MONO,
  ...filesOf('DejaVuSansCondensed', STYLES),
  ...filesOf('DejaVuSerifCondensed', SERIF_STYLES),
];
/** Of a text that says none; with none, resvg takes 12. */
const BROWSERS_SIZE = 16;
const FAMILY = /(font-family\s*(?:=\s*"|:\s*))((?:&quot;|[^;}"<>])*)/gi;

/** Most renderers reckon with Arial, which is as wide as ours when it is condensed; some with Verdana, as wide as ours is. */
export function fontsFor(
  svg: string,
  embedded: EmbeddedFonts,
  fallback: string | undefined,
): NonNullable<ResvgRenderOptions['font']> {
  const isWide = /DejaVu Sans|Verdana/.test(svg);
  return {
    fontFiles: [...embedded.files, ...(isWide ? WIDE : NARROW)],
    // Loaded last: for letters that no font before it has.
    fontDirs: fallback === undefined ? [] : [fallback],
    loadSystemFonts: false,
    defaultFontFamily: 'DejaVu Sans',
    defaultFontSize: BROWSERS_SIZE,
  };
}

/** A font that could not be unpacked is replaced like any other. */
export function withKnownFonts(svg: string, { families }: EmbeddedFonts): string {
  return inMarkup(svg, (markup) =>
    markup.replace(FAMILY, (all, before: string, named: string) => {
      if (families.has(firstOf(named))) return all;
      const style = before.endsWith('"') ? '' : styleOf(named);
      return `${before}${nearest(named)}${style}`;
    }),
  );
}

function firstOf(named: string): string {
  return unescaped(named).split(',', 1)[0]!.replace(/["']/g, '').trim();
}

function nearest(named: string): string {
  if (/mono|courier|consol|menlo|iosevka|source code/i.test(named)) return 'DejaVu Sans Mono';
  const isSerif = /times|georgia|palatino|garamond|cambria|(?<!sans[- ])serif/i.test(named);
  return isSerif ? 'DejaVu Serif' : 'DejaVu Sans';
}

/** A font that a drawing brings along may have its style in its name alone. */
function styleOf(named: string): string {
  const weight = /-(?:semi)?bold\b/i.test(named) ? ';font-weight:bold' : '';
  const slant = /-(?:italic|oblique)\b/i.test(named) ? ';font-style:italic' : '';
  return weight + slant;
}

function filesOf(family: string, styles: string[]): string[] {
  return styles.map((style) => dejaVuFile(`${family}${style}`));
}
