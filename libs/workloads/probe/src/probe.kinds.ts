import { defineKind } from '#nestjs';
import { z } from 'zod';

const DAY_MS = 86_400_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** A job without use that behaves in every way a job can, to try the fleet and for tests. */
export const probe = defineKind({
  name: 'probe',
  queue: 'probe',
  payload: z.strictObject({
    ms: z.number().int().min(0).max(DAY_MS).default(0).describe('How long it runs, reporting progress.'),
    failTimes: z.number().int().min(0).max(100).default(0).describe('How many of its first attempts fail.'),
    ignoreAbort: z.boolean().default(false).describe('Whether it runs on when it is told to stop.'),
    artifactBytes: z
      .number()
      .int()
      .min(0)
      .max(MAX_BYTES)
      .optional()
      .describe('Leaves an artifact, `probe.bin`, of that size.'),
    exit: z.boolean().default(false).describe('Whether it kills its own process.'),
  }),
  attempts: 3,
  backoff: { type: 'fixed', delay: '200ms' },
  artifacts: true,
});
