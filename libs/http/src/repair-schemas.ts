import { z } from 'zod';

export const RetryBody = z
  .strictObject({ reset: z.boolean().optional().describe('Count the attempts of the job from 0 again.') })
  .nullish()
  .meta({ id: 'Retry' });
export type RetryBody = z.output<typeof RetryBody>;
