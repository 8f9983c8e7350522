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
