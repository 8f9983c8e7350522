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
              .describe('200; of a batch also what a bad event alone would be answered, but never 503.'),
            id: z.string(),
            source: z.string(),
            outcome: z
              .enum(['cancelled', 'ignored', 'late'])
              .describe('late: its owner was reopened after it happened; nothing was done.'),
            owner: z.string().optional(),
            cancelId: z.string().optional().describe('Whose receipt says what was cancelled.'),
            why: z.string().optional(),
          })
          .partial()
          .catchall(z.unknown()),
      )
      .describe('One for each event, in order.'),
  })
  .meta({ id: 'EventResults' });
