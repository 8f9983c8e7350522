import { z } from 'zod';

const Duration = z.union([z.string(), z.number()]);

export const CancelBody = z
  .strictObject({
    reason: z.string().trim().min(1).max(500).optional().describe('Why; it stands in receipt and history.'),
    close: z.boolean().optional().describe('Refuse new jobs until the owner is reopened. Default true.'),
    wait: z.literal('drained').optional().describe('Answer when nothing of it runs any more.'),
    waitFor: Duration.optional().describe('For how long at most. Default 30s, at most 2m.'),
    cancelId: z.string().optional().describe('The same id again gets the same receipt.'),
  })
  .nullish()
  .meta({ id: 'Cancel' });
export type CancelBody = z.infer<typeof CancelBody>;

export const ReceiptAnswer = z
  .object({
    cancelId: z.string(),
    owner: z.string(),
    job: z.string().optional().describe('The one job, when it was not all of the owner.'),
    epoch: z.string().nullable().describe("The owner's generation since."),
    reason: z.string(),
    by: z.string(),
    at: z.iso.datetime(),
    closed: z.boolean(),
    removed: z
      .number()
      .int()
      .describe('Jobs taken out of their queues, or refused when their turn came; none of them ever starts.'),
    aborted: z.number().int().describe('Runs that were told to stop.'),
    acknowledged: z.number().int().describe('Of these: ended when told.'),
    ignored: z.number().int().describe('Of these: abandoned after their grace.'),
    running: z.number().int().describe('Of these: still at it.'),
    byQueue: z.record(
      z.string(),
      z.object({
        removed: z.record(z.string(), z.number().int()).describe('By the state they were in.'),
        aborted: z.number().int(),
        running: z.number().int(),
      }),
    ),
    schedules: z.number().int().describe('Schedules that ended with the owner.'),
    done: z.boolean().describe('Nothing is left of it, in any queue or index.'),
    durable: z
      .boolean()
      .describe(
        'What `DURABILITY` asks for held the cancel before it was answered. With `none` always false.',
      ),
    late: z.literal(true).optional(),
    why: z.literal('orphan').optional().describe('Nobody asked for it: the sweep found the owner gone.'),
  })
  .meta({ id: 'Receipt' });
