import { z } from 'zod';

export const EventsAnswer = z
  .object({
    results: z
      .array(
        z
          .object({
            status: z
              .number()
              .int()
              .describe(
                '200. In a batch also the status that an invalid event alone would get, but never 503.',
              ),
            id: z.string(),
            source: z.string(),
            outcome: z
              .enum(['cancelled', 'ignored', 'late'])
              .describe('late: the owner was reopened after the event; nothing was done.'),
            owner: z.string().optional(),
            cancelId: z.string().optional().describe('Id of the receipt.'),
            why: z.string().optional(),
          })
          .partial()
          .catchall(z.unknown()),
      )
      .describe('One result per event, in order.'),
  })
  .meta({ id: 'EventResults' });
