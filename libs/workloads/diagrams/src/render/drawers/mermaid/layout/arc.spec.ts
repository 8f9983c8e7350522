import { describe, expect, it } from 'vitest';
import { pointsOnArc, type Arc } from './arc.js';

/** A quarter of a circle around the origin, from the right to the top of a y axis that points up. */
const QUARTER: Arc = {
  from: [10, 0],
  to: [0, 10],
  radii: [10, 10],
  degrees: 0,
  isLarge: false,
  isClockwise: true,
};

describe('points on an arc', () => {
  it('lie on the circle, and the last is its end', () => {
    expect(rounded(QUARTER, 3)).toEqual([
      [8.66, 5],
      [5, 8.66],
      [0, 10],
    ]);
  });

  it.each<[string, Partial<Arc>, [number, number]]>([
    ['small, one way round', {}, [7.07, 7.07]],
    ['small, the other way round', { isClockwise: false }, [2.93, 2.93]],
    ['large, one way round', { isLarge: true }, [17.07, 17.07]],
    ['large, the other way round', { isLarge: true, isClockwise: false }, [-7.07, -7.07]],
  ])('are those of the one of the four possible arcs that is %s', (_, flags, middle) => {
    expect(rounded({ ...QUARTER, ...flags }, 2)[0]).toEqual(middle);
  });

  it('lie on a rotated ellipse', () => {
    const half: Arc = { ...QUARTER, from: [0, -20], to: [0, 20], radii: [20, 10], degrees: 90 };
    expect(rounded(half, 2)).toEqual([
      [10, 0],
      [0, 20],
    ]);
  });

  it('lie on a larger circle if the radii are too short to connect the ends', () => {
    expect(rounded({ ...QUARTER, from: [-10, 0], to: [10, 0], radii: [1, 1] }, 2)).toEqual([
      [0, -10],
      [10, 0],
    ]);
  });

  it.each<[string, Partial<Arc>]>([
    ['has no radius', { radii: [0, 10] }],
    ['ends where it begins', { from: [0, 10] }],
  ])('are only the end if the arc %s', (_, more) => {
    expect(pointsOnArc({ ...QUARTER, ...more }, 8)).toEqual([[0, 10]]);
  });
});

function rounded(arc: Arc, steps: number): number[][] {
  return pointsOnArc(arc, steps).map((point) => point.map((each) => Math.round(each * 100) / 100 + 0));
}
