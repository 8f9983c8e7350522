import { pointsOnArc } from './arc.js';
import type { Point } from './box.js';
import { numbersIn } from './numbers.js';

const COMMAND = /([MLHVCSQTAZ])([^MLHVCSQTAZ]*)/gi;
/** How many numbers each takes. */
const TAKES: Record<string, number> = { M: 2, L: 2, H: 1, V: 1, C: 6, S: 4, Q: 4, T: 2, A: 7 };
/** Straight pieces for one curve. */
const STEPS = 16;

/** The `d` of a path as straight pieces, one list of points for each of its parts. */
export function piecesOf(d: string | null): Point[][] {
  const pen = new Pen();
  for (const [, command = '', list] of d?.matchAll(COMMAND) ?? []) {
    const name = command.toUpperCase();
    const takes = TAKES[name];
    if (!takes) pen.close();
    else {
      const numbers = numbersIn(list);
      for (let at = 0; at + takes <= numbers.length; at += takes)
        // More pairs after a move are lines.
        pen.draw(name === 'M' && at > 0 ? 'L' : name, numbers.slice(at, at + takes), command !== name);
    }
  }
  return pen.pieces;
}

export function lengthOf(pieces: readonly (readonly Point[])[]): number {
  let length = 0;
  for (const points of pieces)
    for (let at = 1; at < points.length; at += 1) length += distance(points[at - 1]!, points[at]!);
  return length;
}

export function pointAt(pieces: readonly (readonly Point[])[], length: number): Point {
  let left = Math.max(0, length);
  for (const points of pieces) {
    for (let at = 1; at < points.length; at += 1) {
      const [from, to] = [points[at - 1]!, points[at]!];
      const step = distance(from, to);
      if (step > 0 && left <= step) return between(from, to, left / step);
      left -= step;
    }
  }
  return pieces.at(-1)?.at(-1) ?? [0, 0];
}

class Pen {
  readonly pieces: Point[][] = [];
  private at: Point = [0, 0];
  private start: Point = [0, 0];
  /** The last control point of a curve, which a smooth one mirrors. */
  private control: Point | undefined;

  draw(name: string, numbers: readonly number[], isRelative: boolean): void {
    const [x, y] = isRelative ? this.at : [0, 0];
    if (name === 'H') this.line([[numbers[0]! + x, this.at[1]]]);
    else if (name === 'V') this.line([[this.at[0], numbers[0]! + y]]);
    else if (name === 'A') this.arc(numbers, [x + numbers[5]!, y + numbers[6]!]);
    else this.through(name, pairsOf(numbers, x, y));
  }

  close(): void {
    this.line([this.start]);
  }

  private through(name: string, points: readonly Point[]): void {
    if (name === 'M') {
      this.at = this.start = points[0]!;
      this.control = undefined;
      this.pieces.push([this.at]);
    } else if (name === 'L') this.line(points);
    else if (name === 'S' || name === 'T') this.curve([this.mirrored(), ...points]);
    else this.curve(points);
  }

  private curve(points: readonly Point[]): void {
    const all = [this.at, ...points];
    this.line(Array.from({ length: STEPS }, (_, step) => onCurve(all, (step + 1) / STEPS)));
    this.control = points.at(-2);
  }

  private arc([rx = 0, ry = 0, degrees = 0, large, clockwise]: readonly number[], to: Point): void {
    const [isLarge, isClockwise] = [large === 1, clockwise === 1];
    this.line(pointsOnArc({ from: this.at, to, radii: [rx, ry], degrees, isLarge, isClockwise }, STEPS));
  }

  private line(points: readonly Point[]): void {
    if (this.pieces.length === 0) this.pieces.push([this.at]);
    this.pieces.at(-1)!.push(...points);
    this.at = points.at(-1)!;
    this.control = undefined;
  }

  private mirrored(): Point {
    const [x, y] = this.control ?? this.at;
    return [2 * this.at[0] - x, 2 * this.at[1] - y];
  }
}

/** De Casteljau's construction, for curves of any degree. */
function onCurve(points: readonly Point[], share: number): Point {
  if (points.length === 1) return points[0]!;
  return onCurve(
    points.slice(1).map((point, at) => between(points[at]!, point, share)),
    share,
  );
}

/** The points of a list of numbers, from a point. */
export function pairsOf(numbers: readonly number[], x = 0, y = 0): Point[] {
  return Array.from({ length: numbers.length / 2 }, (_, at) => [
    numbers[at * 2]! + x,
    numbers[at * 2 + 1]! + y,
  ]);
}

function between([ax, ay]: Point, [bx, by]: Point, share: number): Point {
  return [ax + (bx - ax) * share, ay + (by - ay) * share];
}

function distance([ax, ay]: Point, [bx, by]: Point): number {
  return Math.hypot(bx - ax, by - ay);
}
