import type { Waited } from './prober.process.js';

/** A line of a table: its name, and what stands in its columns. */
export function row([name, ...cells]: readonly string[]): string {
  return (name!.padEnd(50) + cells.map((cell) => cell.padEnd(14)).join('')).trimEnd();
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

export const WAITS = ['worst stall', 'its p99', 'worst answer'];

export function waits({ busy, busyP99, worst }: Waited): string[] {
  return [ms(busy), ms(busyP99), ms(worst)];
}

export const WHAT_A_STALL_IS =
  'A stall is what the store computed before it answered another client; an answer also waits for a processor.';
