import { z } from 'zod';

/** `PUT /v1/admin/slots/{key}`. */
export const SlotBody = z
  .strictObject({ limit: z.number().int().min(1).max(10_000) })
  .meta({ id: 'SetSlotLimit' });
export type SlotBody = z.output<typeof SlotBody>;

export const SlotAnswer = z
  .object({
    key: z.string(),
    limit: z.number().int().nullable().describe('null: the next use sets it.'),
    holding: z.number().int(),
    waiting: z.number().int(),
    holders: z
      .array(z.object({ jobId: z.string(), until: z.iso.datetime() }))
      .describe('The first hundred, and until when each holds its slot unless it renews it.'),
    waiters: z.array(z.string()).describe('The first hundred jobs in line.'),
  })
  .meta({ id: 'Slot' });
