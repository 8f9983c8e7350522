const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** A length of time: a number of milliseconds, or a number with a unit: `500ms`, `30s`, `5m`, `24h`, `7d`. */
export type Duration = number | string;

/** Milliseconds of a duration, or `undefined` when it is not one. */
export function parseDuration(value: Duration): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const [, amount, unit] = FORM.exec(value.trim()) ?? [];
  if (!amount || !unit) return undefined;
  return Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
}

/** Whether a text is a duration with a unit, which distinguishes it from an id or a count. */
export function hasUnit(text: string): boolean {
  return FORM.test(text);
}

/** Milliseconds of a typed duration, which needs a unit unless it is 0. Throws an error that says what was expected. */
export function typedDurationMs(text: string, what = 'a duration'): number {
  const ms = text === '0' || hasUnit(text) ? parseDuration(text) : undefined;
  if (ms !== undefined) return ms;
  throw new TypeError(
    `${what} must be a number with a unit (500ms, 30s, 5m, 24h, 7d); got ${JSON.stringify(text)}.`,
  );
}

/** A duration as a person writes it: the largest unit that divides it. */
export function formatDuration(ms: number): string {
  for (const [unit, size] of Object.entries(UNITS).toReversed()) {
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
