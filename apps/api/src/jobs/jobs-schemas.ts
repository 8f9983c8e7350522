import { STRATEGIES, TIMELINE_EVENTS } from '#lifecycle';
import { z } from 'zod';
import { Duration } from '../fields.js';

/** Fields that jobs and schedules share. */
export const Standing = {
  priority: z
    .number()
    .int()
    .min(1)
    .max(200)
    .optional()
    .describe('1 is the most urgent; default 100. Compared with jobs of the same class of kinds.'),
  slot: z
    .strictObject({ key: z.string().max(512), limit: z.number().int().min(1).max(10_000) })
    .optional()
    .describe(
      'At most `limit` jobs of one key run at once, over the whole fleet. The first use of a key sets its limit; a different limit is refused.',
    ),
};

/** Strict: a caller must not choose a job id, parent or retention. */
export const EnqueueBody = z
  .strictObject({
    kind: z.string().max(64),
    owners: z
      .array(z.string().max(600))
      .min(1)
      .max(4)
      .describe('Owners of the job, as in trip:42. The first is the primary owner.'),
    payload: z.unknown().optional().describe("Must match the kind's schema."),
    dedup: z
      .strictObject({ strategy: z.enum(STRATEGIES), key: z.string().max(512).optional() })
      .optional()
      .describe('What to do while a job with the same owners, kind and key is pending.'),
    delay: Duration.optional(),
    expiresIn: Duration.optional().describe('How long from now the job may still start.'),
    ...Standing,
  })
  .meta({ id: 'EnqueueJob' });
export type EnqueueBody = z.output<typeof EnqueueBody>;

/** Each job is validated individually, so that an invalid job does not refuse the others. */
export const BatchBody = z
  .strictObject({ jobs: z.array(z.unknown()).min(1).max(1000) })
  .meta({ id: 'EnqueueBatch' });
export type BatchBody = z.output<typeof BatchBody>;

export const TicketAnswer = z
  .object({
    outcome: z.enum(['created', 'skipped', 'coalesced', 'replaced']),
    id: z.string(),
    kind: z.string(),
    queue: z.string(),
    owners: z.array(z.string()),
    replaced: z.string().optional(),
    durable: z
      .boolean()
      .optional()
      .describe('Whether the job was as durable as `DURABILITY` asks before the answer. Absent with `none`.'),
  })
  .meta({ id: 'Ticket' });

export const BatchAnswer = z
  .object({
    results: z
      .array(z.object({ status: z.number().int() }).catchall(z.unknown()))
      .describe('One result per job, in order.'),
  })
  .meta({ id: 'BatchResults' });

export const JobAnswer = z
  .object({
    id: z.string(),
    kind: z.string(),
    queue: z.string(),
    owners: z.array(z.string()),
    state: z.enum([
      'waiting',
      'delayed',
      'running',
      'retrying',
      'completed',
      'failed',
      'cancelled',
      'expired',
      'skipped',
      'removed',
    ]),
    progress: z.unknown(),
    result: z.unknown(),
    error: z.string().nullable(),
    why: z.string().optional().describe('Why the job was removed.'),
    attempts: z.number().int(),
    artifacts: z.array(
      z.object({
        name: z.string(),
        size: z.number().int(),
        contentType: z.string(),
        sha256: z.string(),
        href: z.string(),
      }),
    ),
    timeline: z.array(
      z.object({
        at: z.iso.datetime(),
        event: z.enum(TIMELINE_EVENTS),
        attempt: z.number().int().optional(),
        why: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Job' });
