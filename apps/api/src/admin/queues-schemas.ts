import { z } from 'zod';

export const QueuesAnswer = z
  .object({
    queues: z.array(
      z.object({
        queue: z.string(),
        counts: z.record(z.string(), z.number().int()).describe('By the state of its jobs.'),
        oldestWaitingMs: z
          .number()
          .int()
          .nullable()
          .describe('How long the job that is due for longest has been due; null when none waits.'),
        paused: z.boolean().describe('Nothing of it is begun; what runs goes on.'),
      }),
    ),
  })
  .meta({ id: 'Queues' });

export const PausedAnswer = z.object({ queue: z.string(), paused: z.boolean() }).meta({ id: 'Paused' });
export type PausedAnswer = z.output<typeof PausedAnswer>;
