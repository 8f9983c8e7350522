import { z } from 'zod';

export const OwnerAnswer = z
  .object({
    owner: z.string(),
    state: z.enum(['open', 'closed']),
    epoch: z
      .string()
      .nullable()
      .describe('Its generation; null for one that never had a job, or none for long.'),
    counts: z
      .object({ jobs: z.number().int(), running: z.number().int(), ending: z.number().int() })
      .describe(
        'Of the whole owner; `ending`: jobs that were cancelled and are on their way out, as many as this page met.',
      ),
    jobs: z.array(
      z.object({ id: z.string(), queue: z.string(), acceptedAt: z.iso.datetime(), hasBegun: z.boolean() }),
    ),
    cursor: z.string().nullable().describe('Where the next page begins; null on the last one.'),
  })
  .meta({ id: 'Owner' });

export const ReopenAnswer = z
  .object({ owner: z.string(), state: z.literal('open'), epoch: z.string() })
  .meta({ id: 'Reopened' });

export const HistoryAnswer = z
  .object({
    owner: z.string(),
    entries: z.array(
      z.object({
        id: z.string().describe("The job's, or the schedule's."),
        queue: z.string(),
        kind: z.string().optional(),
        owners: z.array(z.string()).optional(),
        state: z.string().describe('The state it was in; `schedule` of a schedule.'),
        at: z.iso.datetime(),
        why: z.enum(['cancelled', 'expired', 'retention', 'orphan']),
        reason: z.string().optional(),
        by: z.string().optional(),
        cancelId: z.string().optional(),
      }),
    ),
    cursor: z.string().nullable().describe('Where the next page begins; null on the last one.'),
  })
  .meta({ id: 'History' });
