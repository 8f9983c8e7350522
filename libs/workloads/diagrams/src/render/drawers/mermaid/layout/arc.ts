import type { Point } from './box.js';

export interface Arc {
  readonly from: Point;
  readonly to: Point;
  readonly radii: Point;
  readonly degrees: number;
  readonly isLarge: boolean;
  readonly isClockwise: boolean;
}

/** Points on an elliptical arc, by the conversion of appendix B.2 of the SVG specification. */
export function pointsOnArc(arc: Arc, steps: number): Point[] {
  const { from, to, degrees } = arc;
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const [halfX, halfY] = [(from[0] - to[0]) / 2, (from[1] - to[1]) / 2];
  const [x, y] = [cos * halfX + sin * halfY, cos * halfY - sin * halfX];
  const [rx, ry] = largeEnough(arc.radii, x, y);
  if (rx === 0 || ry === 0 || (x === 0 && y === 0)) return [to];

  const room = (rx * ry) ** 2 - (rx * y) ** 2 - (ry * x) ** 2;
  const side = arc.isLarge === arc.isClockwise ? -1 : 1;
  const scale = side * Math.sqrt(Math.max(0, room) / ((rx * y) ** 2 + (ry * x) ** 2));
  const [centreX, centreY] = [(scale * rx * y) / ry, (-scale * ry * x) / rx];
  const begin = Math.atan2((y - centreY) / ry, (x - centreX) / rx);
  const end = Math.atan2((-y - centreY) / ry, (-x - centreX) / rx);
  const turn = turnOf(end - begin, arc.isClockwise);

  return Array.from({ length: steps }, (_, step) => {
    const angle = begin + (turn * (step + 1)) / steps;
    const [px, py] = [centreX + rx * Math.cos(angle), centreY + ry * Math.sin(angle)];
    return [cos * px - sin * py + (from[0] + to[0]) / 2, sin * px + cos * py + (from[1] + to[1]) / 2];
  });
}

/** Radii too small to reach both ends grow until they do. */
function largeEnough([rx, ry]: Point, x: number, y: number): Point {
  const [a, b] = [Math.abs(rx), Math.abs(ry)];
  if (a === 0 || b === 0) return [0, 0];
  const scale = Math.sqrt(Math.max(1, (x / a) ** 2 + (y / b) ** 2));
  return [a * scale, b * scale];
}

function turnOf(turn: number, isClockwise: boolean): number {
  if (isClockwise) return turn < 0 ? turn + 2 * Math.PI : turn;
  return turn > 0 ? turn - 2 * Math.PI : turn;
}
