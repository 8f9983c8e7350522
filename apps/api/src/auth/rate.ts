import type { Rate } from '#runtime';
import type { z } from 'zod';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const RATE = /^([1-9]\d{0,5})\/([smh])$/;

/** Reads `100/s`. Use it as a zod `transform`. */
export function readRate(text: string, context: z.core.$RefinementCtx): Rate {
  const [, count, unit] = RATE.exec(text) ?? [];
  if (count && unit) return { count: Number(count), perMs: UNITS[unit]! };
  context.addIssue({ code: 'custom', message: 'expected a number of requests per s, m or h, as in 100/s' });
  return { count: 1, perMs: 1 };
}
