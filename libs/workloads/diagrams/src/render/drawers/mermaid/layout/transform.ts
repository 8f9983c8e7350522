import { around, type Box, type Point } from './box.js';
import { numbersIn } from './numbers.js';

/** As SVG writes it: `matrix(a b c d e f)`. */
export type Matrix = readonly [number, number, number, number, number, number];

const STEP = /(\w+)\s*\(([^)]*)\)/g;
const SAME: Matrix = [1, 0, 0, 1, 0, 0];

const STEPS: Record<string, (numbers: readonly number[]) => Matrix> = {
  matrix: ([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]) => [a, b, c, d, e, f],
  translate: ([x = 0, y = 0]) => [1, 0, 0, 1, x, y],
  scale: ([x = 1, y = x]) => [x, 0, 0, y, 0, 0],
  rotate: ([degrees = 0, x = 0, y = 0]) => {
    const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    return times(times([1, 0, 0, 1, x, y], [cos, sin, -sin, cos, 0, 0]), [1, 0, 0, 1, -x, -y]);
  },
  skewX: ([degrees = 0]) => [1, 0, Math.tan((degrees * Math.PI) / 180), 1, 0, 0],
  skewY: ([degrees = 0]) => [1, Math.tan((degrees * Math.PI) / 180), 0, 1, 0, 0],
};

/** What the value of a `transform` attribute does. */
export function matrixOf(transform: string | null): Matrix {
  let matrix = SAME;
  for (const [, name = '', list] of transform?.matchAll(STEP) ?? []) {
    const step = Object.hasOwn(STEPS, name) ? STEPS[name] : undefined;
    if (step) matrix = times(matrix, step(numbersIn(list)));
  }
  return matrix;
}

export function transformed(box: Box | undefined, matrix: Matrix): Box | undefined {
  if (!box || matrix === SAME) return box;
  const { left, top, right, bottom } = box;
  const sides = [left, right].map((x) => [top, bottom].map((y) => moved([x, y], matrix)));
  return around(sides.flat());
}

function moved([x, y]: Point, [a, b, c, d, e, f]: Matrix): Point {
  return [a * x + c * y + e, b * x + d * y + f];
}

function times([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix {
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}
