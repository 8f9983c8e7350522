import { STRATEGIES, TIMELINE_EVENTS } from '#lifecycle';
import { z } from 'zod';
import { Duration } from '../fields.js';

/** Where a job stands among others, however it is asked for. */
export const Standing = {
  priority: z
    .number()
    .int()
    .min(1)
    .max(200)
    .optional()
    .describe("1 is the most urgent; default 100. It counts among the jobs of its kind's class."),
  slot: z
    .strictObject({ key: z.string().max(512), limit: z.number().int().min(1).max(10_000) })
    .optional()
    .describe(
      'At most `limit` jobs of one key run at once, over the whole fleet. The key keeps the limit of its first use; another one is refused.',
    ),
};

/** `POST /v1/jobs`. Nothing else may be set: a caller chooses no job id, parent, or retention. */
export const EnqueueBody = z
  .strictObject({
    kind: z.string().max(64),
    owners: z
      .array(z.string().max(600))
      .min(1)
      .max(4)
      .describe('Who the job is for, as in trip:42. The first is the primary.'),
    payload: z.unknown().optional().describe("What the kind's schema asks for."),
    dedup: z
      .strictObject({ strategy: z.enum(STRATEGIES), key: z.string().max(512).optional() })
      .optional()
      .describe('What becomes of it while a job of the same owners, kind and key is pending.'),
    delay: Duration.optional(),
    expiresIn: Duration.optional().describe('How long after now it may still start.'),
    ...Standing,
  })
  .meta({ id: 'EnqueueJob' });
export type EnqueueBody = z.output<typeof EnqueueBody>;

/** `POST /v1/jobs/batch`. Each is checked by itself, so that a wrong one does not refuse the others. */
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
      .describe('What `DURABILITY` asks for held the job before it was answered. Absent with `none`.'),
  })
  .meta({ id: 'Ticket' });

export const BatchAnswer = z
  .object({
    results: z
      .array(z.object({ status: z.number().int() }).catchall(z.unknown()))
      .describe('One for each, in order.'),
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
    why: z.string().optional().describe('Of one that was removed: why.'),
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
