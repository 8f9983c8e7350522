import { inflateSync } from 'node:zlib';
import { eachTable, HEADER, RECORD, tablesOf, type Table } from '../fonts/tables.js';

/*
 * What draws a PNG reads font files only, in TrueType or OpenType; a drawing brings its fonts along as WOFF, which is the same with
 * each table compressed.
 */

const WOFF = 'wOFF';
const PLAIN = new Set(['\0\u0001\0\0', 'OTTO', 'true']);
const LONGEST_TABLE = 4_000_000;
/** Of names: the family, and the one that PostScript knows it by. A font without them is not loaded. */
const NAME_IDS = [1, 6];
/** Windows, Unicode, English. */
const ENCODING = [3, 1, 0x409];

/** A font under the family that the drawing calls it by. @throws when it is not a font of these kinds, or too large. */
export function openTypeNamed(family: string, font: Buffer): Buffer {
  const kind = font.toString('latin1', 0, 4);
  if (kind !== WOFF && !PLAIN.has(kind)) throw new Error('It is neither WOFF nor TrueType nor OpenType.');
  const tables = (kind === WOFF ? woffTables(font) : tablesOf(font)).filter(({ tag }) => tag !== 'name');
  const flavour = kind === WOFF ? font.subarray(4, 8) : font.subarray(0, 4);
  return written(flavour, [...tables, { tag: 'name', data: names(family) }]);
}

function woffTables(font: Buffer): Table[] {
  return eachTable(font.readUInt16BE(12), (nth) => {
    const at = 44 + nth * 20;
    const [offset, packed, length] = [4, 8, 12].map((field) => font.readUInt32BE(at + field));
    const data = font.subarray(offset, offset! + packed!);
    return {
      tag: font.toString('latin1', at, at + 4),
      data: packed! < length! ? inflateSync(data, { maxOutputLength: LONGEST_TABLE }) : data,
    };
  });
}

function names(family: string): Buffer {
  const text = Buffer.from(family, 'utf16le').swap16();
  const head = Buffer.alloc(6 + NAME_IDS.length * 12);
  head.writeUInt16BE(NAME_IDS.length, 2);
  head.writeUInt16BE(head.length, 4);
  NAME_IDS.forEach((id, nth) => {
    [...ENCODING, id, text.length, 0].forEach((value, field) =>
      head.writeUInt16BE(value, 6 + nth * 12 + field * 2),
    );
  });
  return Buffer.concat([head, text]);
}

/** Its checksums are left out: what draws a PNG does not look at them, nor at what speeds up a search. */
function written(flavour: Buffer, tables: readonly Table[]): Buffer {
  const sorted = tables.toSorted((a, b) => (a.tag < b.tag ? -1 : 1));
  const head = Buffer.alloc(HEADER + sorted.length * RECORD);
  flavour.copy(head);
  head.writeUInt16BE(sorted.length, 4);
  const parts: Buffer[] = [head];
  let end = head.length;
  sorted.forEach(({ tag, data }, nth) => {
    const at = HEADER + nth * RECORD;
    head.write(tag, at, 'latin1');
    head.writeUInt32BE(end, at + 8);
    head.writeUInt32BE(data.length, at + 12);
    const padding = Buffer.alloc(-data.length & 3);
    parts.push(data, padding);
    end += data.length + padding.length;
  });
  return Buffer.concat(parts);
}
