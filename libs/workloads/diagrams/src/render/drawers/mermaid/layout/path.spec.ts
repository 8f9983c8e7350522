import { describe, expect, it } from 'vitest';
import { lengthOf, piecesOf, pointAt } from './path.js';

describe('the pieces of a path', () => {
  it.each([
    [
      'lines',
      'M1 2L4 6H10V0',
      [
        [
          [1, 2],
          [4, 6],
          [10, 6],
          [10, 0],
        ],
      ],
    ],
    [
      'lines from where it is',
      'm1 2l3 4h6v-6',
      [
        [
          [1, 2],
          [4, 6],
          [10, 6],
          [10, 0],
        ],
      ],
    ],
    [
      'more pairs after a move',
      'M0,0 1,1 2,0',
      [
        [
          [0, 0],
          [1, 1],
          [2, 0],
        ],
      ],
    ],
    [
      'more relative pairs after a move',
      'm1 1 1 1',
      [
        [
          [1, 1],
          [2, 2],
        ],
      ],
    ],
    [
      'a way back to its beginning',
      'M1 1H5V5Z',
      [
        [
          [1, 1],
          [5, 1],
          [5, 5],
          [1, 1],
        ],
      ],
    ],
    [
      'several parts',
      'M0 0H1M5 5H6',
      [
        [
          [0, 0],
          [1, 0],
        ],
        [
          [5, 5],
          [6, 5],
        ],
      ],
    ],
    [
      'a line without a move',
      'L3 4',
      [
        [
          [0, 0],
          [3, 4],
        ],
      ],
    ],
    [
      'numbers without spaces',
      'M.5.5-1-1',
      [
        [
          [0.5, 0.5],
          [-1, -1],
        ],
      ],
    ],
    ['too few numbers', 'M1 1L5', [[[1, 1]]]],
    ['nothing', '', []],
  ])('are those of %s', (_, d, pieces) => {
    expect(piecesOf(d)).toEqual(pieces);
  });

  it('are empty without a path', () => {
    expect(piecesOf(null)).toEqual([]);
  });

  it.each([
    ['cubic', 'M0 0C0 10 10 10 10 0', [5, 7.5]],
    ['quadratic', 'M0 0Q5 10 10 0', [5, 5]],
    ['relative', 'M10 10c0 10 10 10 10 0', [15, 17.5]],
  ])('of a %s curve are sixteen, and the middle one is on it', (_, d, middle) => {
    const [points] = piecesOf(d);
    expect(points).toHaveLength(17);
    expect(points![8]).toEqual(middle);
  });

  it.each([
    ['cubic', 'M0 0C0 10 10 10 10 0S20-10 20 0', 'M0 0C0 10 10 10 10 0C10-10 20-10 20 0'],
    ['quadratic', 'M0 0Q5 10 10 0T20 0', 'M0 0Q5 10 10 0Q15-10 20 0'],
    ['first', 'M0 0T20 0', 'M0 0Q0 0 20 0'],
  ])('of a smooth %s curve mirror the curve before it', (_, smooth, written) => {
    expect(piecesOf(smooth)).toEqual(piecesOf(written));
  });

  it('of an arc end at its end', () => {
    const [points] = piecesOf('M0 0a5 5 0 0 1 10 0');
    expect(points).toHaveLength(17);
    const [x, y] = points![8]!;
    expect([x, y]).toEqual([expect.closeTo(5), expect.closeTo(-5)]);
    expect(points!.at(-1)).toEqual([expect.closeTo(10), expect.closeTo(0)]);
  });
});

describe('a length along a path', () => {
  const pieces = piecesOf('M0 0L3 4M10 0V10');

  it('is the sum of its pieces, without the moves between them', () => {
    expect(lengthOf(pieces)).toBe(15);
    expect(lengthOf([])).toBe(0);
  });

  it.each([
    [-1, [0, 0]],
    [0, [0, 0]],
    [2.5, [1.5, 2]],
    [5, [3, 4]],
    [7, [10, 2]],
    [15, [10, 10]],
    [99, [10, 10]],
  ])('%d leads to the point %j', (length, point) => {
    expect(pointAt(pieces, length)).toEqual(point);
  });

  it('leads to the origin without a path', () => {
    expect(pointAt([], 5)).toEqual([0, 0]);
  });
});
