/** A part of a font: `head`, `cmap` and others. */
export interface Table {
  readonly tag: string;
  readonly data: Buffer;
}

/** How long the header of a font file is, and each record of its table directory. */
export const HEADER = 12;
export const RECORD = 16;
/** Far more than a font of a drawing has. */
const MOST_TABLES = 64;

/** The tables of a TrueType or OpenType font, in the order of its directory. @throws when it is cut off, or has too many. */
export function tablesOf(font: Buffer): Table[] {
  return eachTable(font.readUInt16BE(4), (nth) => {
    const at = HEADER + nth * RECORD;
    const [offset, length] = [8, 12].map((field) => font.readUInt32BE(at + field));
    return { tag: font.toString('latin1', at, at + 4), data: font.subarray(offset, offset! + length!) };
  });
}

/** Reads each record of a table directory. @throws when it has too many. */
export function eachTable(count: number, read: (nth: number) => Table): Table[] {
  if (count > MOST_TABLES) throw new Error('The font has too many tables.');
  return Array.from({ length: count }, (_, nth) => read(nth));
}
