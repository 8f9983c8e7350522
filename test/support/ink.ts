import { inflateSync } from 'node:zlib';

export interface Ink {
  readonly width: number;
  readonly height: number;
  readonly share: number;
  /** The first and the last column that is not all white. */
  readonly from: number;
  readonly to: number;
}

/** How large a PNG is, and how much of it is not white. Ours have four bytes a pixel and no interlacing. */
export function inkIn(png: Buffer): Ink {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const lines = inflateSync(Buffer.concat(chunksOf(png)));
  const stride = width * 4 + 1;
  let marked = 0;
  let [from, to] = [width, -1];
  let above = new Uint8Array(width * 4);
  for (let y = 0; y < height; y += 1) {
    const line = unfiltered(lines.subarray(y * stride, (y + 1) * stride), above);
    for (let x = 0; x < width; x += 1) {
      if (line[4 * x]! + line[4 * x + 1]! + line[4 * x + 2]! >= 720) continue;
      marked += 1;
      [from, to] = [Math.min(from, x), Math.max(to, x)];
    }
    above = line;
  }
  return { width, height, share: marked / (width * height), from, to };
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
