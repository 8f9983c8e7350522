import { describe, expect, it } from 'vitest';
import { rectangle } from './box.js';
import { matrixOf, transformed } from './transform.js';

describe('a transform', () => {
  it.each([
    ['matrix(1 2 3 4 5 6)', [1, 2, 3, 4, 5, 6]],
    ['translate(3, 4)', [1, 0, 0, 1, 3, 4]],
    ['translate(3)', [1, 0, 0, 1, 3, 0]],
    ['scale(2)', [2, 0, 0, 2, 0, 0]],
    ['scale(2 3)', [2, 0, 0, 3, 0, 0]],
    ['rotate(90)', [0, 1, -1, 0, 0, 0]],
    ['rotate(90, 10, 0)', [0, 1, -1, 0, 10, -10]],
    ['skewX(45)', [1, 0, 1, 1, 0, 0]],
    ['skewY(45)', [1, 1, 0, 1, 0, 0]],
    ['translate(10) scale(2)', [2, 0, 0, 2, 10, 0]],
    ['scale(2) translate(10)', [2, 0, 0, 2, 20, 0]],
    ['constructor(1) translate(1 1)', [1, 0, 0, 1, 1, 1]],
    ['', [1, 0, 0, 1, 0, 0]],
    [null, [1, 0, 0, 1, 0, 0]],
  ])('%j is the matrix %j', (transform, matrix) => {
    expect(matrixOf(transform)).toEqual(matrix.map((each) => expect.closeTo(each)));
  });

  it('moves a box and makes it large enough for its rotated content', () => {
    const box = rectangle(0, 0, 10, 20);
    expect(transformed(box, matrixOf('translate(5 6) scale(2)'))).toEqual(rectangle(5, 6, 20, 40));
    expect(transformed(box, matrixOf('rotate(90)'))).toEqual({
      left: expect.closeTo(-20),
      top: expect.closeTo(0),
      right: expect.closeTo(0),
      bottom: expect.closeTo(10),
    });
  });

  it('returns the same box without a transform, and no box for none', () => {
    const box = rectangle(1, 2, 3, 4);
    expect(transformed(box, matrixOf(null))).toBe(box);
    expect(transformed(undefined, matrixOf('scale(2)'))).toBeUndefined();
  });
});
