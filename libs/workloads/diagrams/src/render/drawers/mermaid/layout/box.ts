/** A rectangle along the axes. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export type Point = readonly [x: number, y: number];

export function rectangle(left: number, top: number, width: number, height: number): Box {
  return { left, top, right: left + width, bottom: top + height };
}

/** The smallest box around both; undefined is nothing, which takes no room. */
export function united(one: Box | undefined, other: Box | undefined): Box | undefined {
  if (!one || !other) return one ?? other;
  return {
    left: Math.min(one.left, other.left),
    top: Math.min(one.top, other.top),
    right: Math.max(one.right, other.right),
    bottom: Math.max(one.bottom, other.bottom),
  };
}

export function around(points: readonly Point[]): Box | undefined {
  let box: Box | undefined;
  for (const [x, y] of points)
    if (Number.isFinite(x + y)) box = united(box, { left: x, top: y, right: x, bottom: y });
  return box;
}
