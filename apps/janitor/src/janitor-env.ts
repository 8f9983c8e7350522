import { readEventMap } from '#events';
import { FleetEnv, workloadVariables } from '#fleet';
import { resolversEnv } from '#resolvers';
import { ALWAYS, checkStoreVariables, fields } from '#runtime';
import { z } from 'zod';

const ratio = z
  .string()
  .refine((text) => /^(0(\.\d+)?|1(\.0+)?)$/.test(text), 'expected a number from 0 to 1, as in 0.2')
  .transform(Number)
  .meta({ form: '0…1' });

/** What a janitor reads from its environment. */
export const JanitorEnv = z
  .object({
    CENSUS_EVERY: fields.duration
      .prefault('15s')
      .describe('How often the queues are counted for the metrics.'),
    EVENT_MAP: z
      .string()
      .transform(readEventMap)
      .optional()
      .meta({ form: 'file' })
      .describe(
        'A JSON file that says which events of the stream cancel which owners; see `docs/events.md`. Without it this janitor leaves the stream alone.',
      ),
    ...resolversEnv(process.env),
    ORPHAN_SWEEP_EVERY: fields.duration
      .prefault('2m')
      .describe('How often is asked which owners are gone, whose jobs are ended then.'),
    OWNER_GRACE: fields.grace
      .prefault('30s')
      .describe('How long an owner has been without a new job, and gone, before its jobs are ended.'),
    RETENTION_EVERY: fields.duration
      .prefault('60m')
      .meta({ older: { name: 'JOB_CLEANUP_INTERVAL_MS', unit: 'ms' } })
      .describe(
        'How often finished jobs are looked for that are not to be kept any more. Also read from `JOB_CLEANUP_INTERVAL_MS`, its older name.',
      ),
    ARTIFACT_SWEEP_EVERY: fields.duration
      .prefault('10m')
      .describe('How often artifacts are looked for whose job is gone.'),
    ARTIFACT_GRACE: fields.age
      .prefault('5m')
      .describe('How old artifacts are before they can be taken for left behind.'),
    EXPIRY_SWEEP_EVERY: fields.duration
      .prefault('5s')
      .describe('How often jobs that are too late to start are taken out of their queues.'),
    REPAIR_EVERY: fields.duration
      .prefault('10m')
      .describe('How often is looked for what a process left half done when it died.'),
    SWEEP_MAX_RATIO: ratio
      .prefault('0.2')
      .describe(
        'Of the owners asked about, the part that one sweep may end; above it nothing is removed until an operator acknowledges that the cause is mended, or forces it. 20 always may.',
      ),
    SWEEP_STALL: fields.duration
      .prefault('10ms')
      .describe('How long a sweep may keep another client of the store waiting before it slows down.'),
    SWEEP_LOCK: fields
      .durationOfAtLeast(1_000)
      .prefault('15s')
      .describe(
        'How long a janitor has a sort of sweep to itself without a sign of life: after a kill another takes it up then.',
      ),
    ...workloadVariables('janitor'),
    ...FleetEnv,
    ...fields.HealthEnv,
  })
  .superRefine(checkStoreVariables, { when: ALWAYS });

export const JANITOR_ENV = Symbol('JanitorEnv');
export type JanitorEnv = z.output<typeof JanitorEnv>;
