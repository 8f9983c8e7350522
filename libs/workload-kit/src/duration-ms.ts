import { parseDuration } from '#durations';
import { Duration } from '#http';
import { z } from 'zod';

/** A duration in a request, read as ms. */
export const DurationMs = Duration.transform((given, context) => {
  const ms = parseDuration(given);
  if (ms !== undefined) return ms;
  context.addIssue('expected a number of ms, or a number with a unit: 500ms, 30s, 5m, 24h, 7d');
  return z.NEVER;
});
