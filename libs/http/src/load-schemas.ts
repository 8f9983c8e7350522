import { z } from 'zod';
import { count } from './fields.js';
import { limitedTo } from './list-schemas.js';

export const LoadQuery = z.strictObject({
  kinds: z
    .string()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Names of kinds, separated by commas, as in WORKER_KINDS. Default: all queues.'),
});
export type LoadQuery = z.output<typeof LoadQuery>;

const load = {
  load: count.describe('waiting + running: the jobs that need a worker now.'),
  waiting: count.describe('Jobs that a worker could start now, due delayed ones included; 0 while paused.'),
  running: count,
};

export const LoadAnswer = z
  .object({
    ...load,
    queues: z.array(z.object({ queue: z.string(), ...load, paused: z.boolean() })),
    limitedTo,
  })
  .meta({ id: 'Load' });
export type LoadAnswer = z.output<typeof LoadAnswer>;
