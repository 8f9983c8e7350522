import { z } from 'zod';

export const QueuesAnswer = z
  .object({
    queues: z.array(
      z.object({
        queue: z.string(),
        counts: z.record(z.string(), z.number().int()).describe('Number of jobs by state.'),
        oldestWaitingMs: z
          .number()
          .int()
          .nullable()
          .describe('How long the oldest waiting job has been due; null when none waits.'),
        paused: z.boolean().describe('No job of the queue starts; running jobs continue.'),
      }),
    ),
  })
  .meta({ id: 'Queues' });

export const PausedAnswer = z.object({ queue: z.string(), paused: z.boolean() }).meta({ id: 'Paused' });
export type PausedAnswer = z.output<typeof PausedAnswer>;
