import { z } from 'zod';
import { JOB_STATES, STRATEGIES, TIMELINE_EVENTS } from '#nestjs';
import { count, Duration, OwnerNames, SlotKey, SlotLimit, SlotRate } from './fields.js';

/** What jobs and schedules have in common. */
export const Work = {
  kind: z.string().max(64),
  owners: OwnerNames,
  payload: z.unknown().optional().describe("Must match the kind's schema."),
  priority: z
    .number()
    .int()
    .min(1)
    .max(200)
    .optional()
    .describe('1 is the most urgent; default 100. Compared with jobs of the same class of kinds.'),
  slot: z
    .strictObject({ key: SlotKey, limit: SlotLimit, rate: SlotRate.optional() })
    .optional()
    .describe(
      'At most `limit` jobs of the key run at once; with `rate`, up to `max` start at once and one more every `per`/`max`. ' +
        'The first use of a key sets its limit and rate; others are refused.',
    ),
  dedup: z
    .strictObject({
      strategy: z.enum(STRATEGIES),
      key: z.string().max(512).optional(),
      longestWait: Duration.optional().describe(
        'With `coalesce`: the job starts this long after its first trigger at the latest.',
      ),
    })
    .optional()
    .describe('What to do while a job with the same owners, kind and key is pending.'),
  expiresIn: Duration.optional().describe('How long after it is due the job may still start.'),
};

/** Strict: a caller must not choose a job id, parent or retention. */
export const EnqueueBody = z.strictObject({ ...Work, delay: Duration.optional() }).meta({ id: 'EnqueueJob' });
export type EnqueueBody = z.output<typeof EnqueueBody>;

/** Each job is validated by itself, so that an invalid one does not refuse the others. */
export const BatchBody = z
  .strictObject({ jobs: z.array(z.unknown()).min(1).max(1000) })
  .meta({ id: 'EnqueueBatch' });
export type BatchBody = z.output<typeof BatchBody>;

const Place = { id: z.string(), kind: z.string(), queue: z.string(), owners: z.array(z.string()) };
const Durable = z
  .boolean()
  .optional()
  .describe('Whether it was as durable as asked before the answer. Absent without durability.');

export const TicketAnswer = z
  .object({
    outcome: z.enum(['created', 'skipped', 'coalesced', 'replaced']),
    ...Place,
    replaced: z.string().optional(),
    durable: Durable,
  })
  .meta({ id: 'Ticket' });

export const FlowAnswer = z
  .object({
    ...Place,
    children: z.array(z.unknown()).describe('Tickets of the same shape.'),
    durable: Durable,
  })
  .meta({ id: 'FlowTicket' });

export const BatchAnswer = z
  .object({
    results: z
      .array(z.object({ status: count }).catchall(z.unknown()))
      .describe('One result per job, in order.'),
  })
  .meta({ id: 'BatchResults' });

const ArtifactAnswer = z.object({
  name: z.string(),
  size: count,
  contentType: z.string(),
  sha256: z.string(),
  href: z.string(),
});

const TimelineAnswer = z.object({
  at: z.iso.datetime(),
  event: z.enum(TIMELINE_EVENTS),
  attempt: count.optional(),
  why: z.string().optional(),
});

export const JobAnswer = z
  .object({
    ...Place,
    state: z.enum(JOB_STATES),
    progress: z.unknown(),
    result: z.unknown(),
    error: z.string().nullable(),
    why: z.string().optional().describe('Why the job was removed.'),
    attempts: count,
    artifacts: z.array(ArtifactAnswer),
    timeline: z.array(TimelineAnswer),
  })
  .meta({ id: 'Job' });
