import { z } from 'zod';

export const OwnerAnswer = z
  .object({
    owner: z.string(),
    state: z.enum(['open', 'closed']),
    epoch: z
      .string()
      .nullable()
      .describe('Generation of the owner; null if it has no jobs and no recent history.'),
    counts: z
      .object({ jobs: z.number().int(), running: z.number().int(), ending: z.number().int() })
      .describe(
        'Counts of the whole owner. `ending`: cancelled jobs on this page that are still being removed.',
      ),
    jobs: z.array(
      z.object({ id: z.string(), queue: z.string(), acceptedAt: z.iso.datetime(), hasBegun: z.boolean() }),
    ),
    cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
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
        id: z.string().describe('Id of the job or schedule.'),
        queue: z.string(),
        kind: z.string().optional(),
        owners: z.array(z.string()).optional(),
        state: z.string().describe('State before the removal; `schedule` for a schedule.'),
        at: z.iso.datetime(),
        why: z.enum(['cancelled', 'expired', 'retention', 'orphan']),
        reason: z.string().optional(),
        by: z.string().optional(),
        cancelId: z.string().optional(),
      }),
    ),
    cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
  })
  .meta({ id: 'History' });
