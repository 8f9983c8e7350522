import { describe, expect, it } from 'vitest';
import { pictureSize } from './picture-size.js';

const GUESS = { width: 100, height: 100 };

const u16 = (number: number): number[] => [number >> 8, number & 0xff];
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const HEADER = [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
const png = (width: number, height: number): number[] =>
  SIGNATURE.concat(HEADER, 0, 0, u16(width), 0, 0, u16(height));
const gif = (width: number, height: number): number[] => [
  ...Buffer.from('GIF89a'),
  ...u16(width).toReversed(),
  ...u16(height).toReversed(),
];
/** A JPEG segment: its kind, its length and its content. */
const segment = (kind: number, inside: number[]): number[] => [
  0xff,
  kind,
  ...u16(inside.length + 2),
  ...inside,
];
const frame = (kind: number, width: number, height: number): number[] =>
  segment(kind, [8, ...u16(height), ...u16(width), 3]);

const address = (type: string, bytes: readonly number[]): string =>
  `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`;

describe('the size of a picture', () => {
  it.each<[string, number[]]>([
    ['png', png(300, 7)],
    ['gif', gif(300, 7)],
    ['jpeg', [0xff, 0xd8, ...segment(0xe0, [1, 2, 3]), ...frame(0xc0, 300, 7)]],
  ])('is read from the bytes of a %s', (type, bytes) => {
    expect(pictureSize(address(type, bytes))).toEqual({ width: 300, height: 7 });
  });

  it.each([0xc4, 0xc8, 0xcc])(
    'is not read from the segment %i of a jpeg, which describes no frame',
    (kind) => {
      const bytes = [0xff, 0xd8, ...frame(kind, 1, 1), ...frame(0xc2, 300, 7)];
      expect(pictureSize(address('jpeg', bytes))).toEqual({ width: 300, height: 7 });
    },
  );

  it.each([
    ['a png that is cut off', address('png', png(300, 7).slice(0, 20))],
    ['a gif that is cut off', address('gif', gif(300, 7).slice(0, 8))],
    ['a jpeg that is cut off', address('jpeg', [0xff, 0xd8, 0xff])],
    ['a jpeg without a frame', address('jpeg', [0xff, 0xd8, ...segment(0xe0, [1, 2, 3, 4, 5, 6, 7, 8])])],
    ['another type', address('webp', png(300, 7))],
    ['another encoding', 'data:image/png,abc'],
    ['an address elsewhere', 'https://pictures.test/a.png'],
    ['nothing', ''],
  ])('is a guess for %s', (_, picture) => {
    expect(pictureSize(picture)).toEqual(GUESS);
  });
});
