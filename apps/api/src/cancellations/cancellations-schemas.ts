import { z } from 'zod';

const Duration = z.union([z.string(), z.number()]);

export const CancelBody = z
  .strictObject({
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .optional()
      .describe('Reason, stored in the receipt and the history.'),
    close: z.boolean().optional().describe('Refuse new jobs until the owner is reopened. Default true.'),
    wait: z.literal('drained').optional().describe('Answer when nothing of the owner runs any more.'),
    waitFor: Duration.optional().describe('Longest wait. Default 30s, at most 2m.'),
    cancelId: z.string().optional().describe('Repeating a call with the same id returns the same receipt.'),
  })
  .nullish()
  .meta({ id: 'Cancel' });
export type CancelBody = z.infer<typeof CancelBody>;

export const ReceiptAnswer = z
  .object({
    cancelId: z.string(),
    owner: z.string(),
    job: z.string().optional().describe('Set if a single job was cancelled instead of the whole owner.'),
    epoch: z.string().nullable().describe('Generation of the owner after the cancellation.'),
    reason: z.string(),
    by: z.string(),
    at: z.iso.datetime(),
    closed: z.boolean(),
    removed: z
      .number()
      .int()
      .describe('Jobs removed from their queues or refused when they were due. None of them ever starts.'),
    aborted: z.number().int().describe('Runs that were told to stop.'),
    acknowledged: z.number().int().describe('Aborted runs that stopped when told.'),
    ignored: z.number().int().describe('Aborted runs that were abandoned after their grace period.'),
    running: z.number().int().describe('Aborted runs that are still running.'),
    byQueue: z.record(
      z.string(),
      z.object({
        removed: z.record(z.string(), z.number().int()).describe('By state before the removal.'),
        aborted: z.number().int(),
        running: z.number().int(),
      }),
    ),
    schedules: z.number().int().describe('Schedules that ended with the owner.'),
    done: z.boolean().describe('Nothing of it remains in any queue or index.'),
    durable: z
      .boolean()
      .describe(
        'Whether the cancellation was as durable as `DURABILITY` asks before the answer. Always false with `none`.',
      ),
    late: z.literal(true).optional(),
    why: z
      .literal('orphan')
      .optional()
      .describe('Set if the orphan sweep cancelled the owner because it no longer exists.'),
  })
  .meta({ id: 'Receipt' });
