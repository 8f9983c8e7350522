import { readFileSync } from 'node:fs';
import { tablesOf } from '../../../fonts/tables.js';

/** Of a character that the font lacks, in em: wide where East Asian scripts begin. */
const WIDE_SCRIPTS_FROM = 0x2e80;
const LACKING = { wide: 1, other: 0.6 };
const FULL_UNICODE_MAP = 12;

/** How far each character of a TrueType font advances, and how high its lines are; all in em. */
export class FontWidths {
  readonly ascent: number;
  readonly descent: number;
  private readonly advances: ReadonlyMap<number, number>;

  constructor(file: string) {
    const tables = new Map(tablesOf(readFileSync(file)).map(({ tag, data }) => [tag, data]));
    const unitsPerEm = tables.get('head')!.readUInt16BE(18);
    const header = tables.get('hhea')!;
    this.ascent = header.readInt16BE(4) / unitsPerEm;
    this.descent = -header.readInt16BE(6) / unitsPerEm;
    // Glyphs past the last that has a width of its own share that one.
    const last = header.readUInt16BE(34) - 1;
    const advance = (glyph: number): number => tables.get('hmtx')!.readUInt16BE(Math.min(glyph, last) * 4);
    this.advances = new Map(
      glyphsOf(tables.get('cmap')!).map(([character, glyph]) => [character, advance(glyph) / unitsPerEm]),
    );
  }

  /** Without kerning. */
  of(text: string): number {
    let width = 0;
    for (const character of text) width += this.ofOne(character);
    return width;
  }

  private ofOne(character: string): number {
    const code = character.codePointAt(0)!;
    const advance = this.advances.get(code);
    if (advance !== undefined) return advance;
    if (/\p{M}|\p{Cf}/u.test(character)) return 0;
    return code >= WIDE_SCRIPTS_FROM ? LACKING.wide : LACKING.other;
  }
}

/** Pairs of a character and its glyph. */
function glyphsOf(cmap: Buffer): [character: number, glyph: number][] {
  const map = fullMapIn(cmap);
  const glyphs: [number, number][] = [];
  for (let left = map.readUInt32BE(12), at = 16; left > 0; left -= 1, at += 12) {
    const [first, last, glyph] = [0, 4, 8].map((offset) => map.readUInt32BE(at + offset)) as [
      number,
      number,
      number,
    ];
    for (let character = first; character <= last; character += 1)
      glyphs.push([character, glyph + character - first]);
  }
  return glyphs;
}

function fullMapIn(cmap: Buffer): Buffer {
  for (let left = cmap.readUInt16BE(2), at = 4; left > 0; left -= 1, at += 8) {
    const map = cmap.subarray(cmap.readUInt32BE(at + 4));
    if (map.readUInt16BE(0) === FULL_UNICODE_MAP) return map;
  }
  throw new Error('The font has no map of all Unicode.');
}
