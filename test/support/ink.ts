import { inflateSync } from 'node:zlib';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha of each pixel, line by line. */
  readonly bytes: Uint8Array;
}

export interface Ink {
  readonly width: number;
  readonly height: number;
  readonly share: number;
  /** The first and the last column that is not all white. */
  readonly from: number;
  readonly to: number;
}

/** The size of a PNG, how much of it is not white, and between which columns. */
export function inkIn(png: Buffer): Ink {
  const pixels = pixelsOf(png);
  const { width, height, bytes } = pixels;
  let [from, to] = [width, -1];
  for (let at = 0; at < bytes.length; at += 4) {
    if (bytes[at]! + bytes[at + 1]! + bytes[at + 2]! >= 720) continue;
    const column = (at / 4) % width;
    [from, to] = [Math.min(from, column), Math.max(to, column)];
  }
  return { width, height, share: shareOf(pixels, (red, green, blue) => red + green + blue < 720), from, to };
}

/** How many of the pixels have such a colour. */
export function shareOf(
  { bytes }: Pixels,
  isMeant: (red: number, green: number, blue: number) => boolean,
): number {
  let meant = 0;
  for (let at = 0; at < bytes.length; at += 4)
    if (isMeant(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)) meant += 1;
  return (meant * 4) / bytes.length;
}

/** Decodes a PNG of Mooring, which has four bytes a pixel and no interlacing. */
export function pixelsOf(png: Buffer): Pixels {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const lines = inflateSync(Buffer.concat(chunksOf(png)));
  const stride = width * 4 + 1;
  const bytes = new Uint8Array(width * height * 4);
  let above = new Uint8Array(width * 4);
  for (let y = 0; y < height; y += 1) {
    above = unfiltered(lines.subarray(y * stride, (y + 1) * stride), above);
    bytes.set(above, y * width * 4);
  }
  return { width, height, bytes };
}

function chunksOf(png: Buffer): Buffer[] {
  const data: Buffer[] = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  return data;
}

function unfiltered(line: Buffer, above: Uint8Array): Uint8Array<ArrayBuffer> {
  const [filter] = line;
  const plain = new Uint8Array(line.length - 1);
  for (let at = 0; at < plain.length; at += 1) {
    const left = plain[at - 4] ?? 0;
    const up = above[at] ?? 0;
    const corner = at < 4 ? 0 : (above[at - 4] ?? 0);
    const guess = [0, left, up, Math.floor((left + up) / 2), paeth(left, up, corner)][filter!] ?? 0;
    plain[at] = line[at + 1]! + guess;
  }
  return plain;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
