import { InvalidJobError } from './errors.js';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Milliseconds of `5m`, `250ms` or a number of milliseconds. */
export function durationMs(name: string, given: number | string): number {
  if (typeof given === 'number' && Number.isFinite(given) && given >= 0) return Math.round(given);
  const [, amount, unit] = (typeof given === 'string' && DURATION.exec(given)) || [];
  if (amount && unit) return Math.round(Number(amount) * UNITS[unit]!);
  throw new InvalidJobError(
    `${name} is a number of ms, or a text with a unit such as 500ms, 30s, 5m, 24h, 7d; got ${JSON.stringify(given)}.`,
  );
}
