import { z } from 'zod';

export const SlotBody = z
  .strictObject({ limit: z.number().int().min(1).max(10_000) })
  .meta({ id: 'SetSlotLimit' });
export type SlotBody = z.output<typeof SlotBody>;

export const SlotAnswer = z
  .object({
    key: z.string(),
    limit: z.number().int().nullable().describe('null: the next job that uses the key sets it.'),
    holding: z.number().int(),
    waiting: z.number().int(),
    holders: z
      .array(z.object({ jobId: z.string(), until: z.iso.datetime() }))
      .describe('The first hundred holders, and when each slot expires unless it is renewed.'),
    waiters: z.array(z.string()).describe('The first hundred waiting jobs.'),
  })
  .meta({ id: 'Slot' });
