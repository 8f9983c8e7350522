import { z } from 'zod';

const Duration = z
  .union([z.number().int().min(0), z.string().max(32)])
  .describe('Milliseconds, or a number with a unit: 500ms, 30s, 5m, 24h, 7d.');

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
    delay: Duration.default(0),
    priority: z.number().int().min(1).max(200).default(100).describe('1 is the most urgent.'),
  })
  .meta({ id: 'EnqueueJob' });
export type EnqueueBody = z.output<typeof EnqueueBody>;

export const TicketAnswer = z
  .object({
    outcome: z.literal('created'),
    id: z.string(),
    kind: z.string(),
    queue: z.string(),
    owners: z.array(z.string()),
  })
  .meta({ id: 'Ticket' });

export const JobAnswer = z
  .object({
    id: z.string(),
    kind: z.string(),
    queue: z.string(),
    owners: z.array(z.string()),
    state: z.enum(['waiting', 'delayed', 'running', 'retrying', 'completed', 'failed']),
    progress: z.unknown(),
    result: z.unknown(),
    error: z.string().nullable(),
    attempts: z.number().int(),
    artifacts: z.array(z.string()),
    timeline: z.array(
      z.object({
        at: z.iso.datetime(),
        event: z.enum(['accepted', 'began', 'completed', 'failed']),
        attempt: z.number().int().optional(),
        why: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Job' });
