import { FleetEnv, workloadVariables } from '#fleet';
import { resolversEnv } from '#resolvers';
import { ALWAYS, checkStoreVariables, fields } from '#runtime';
import { z } from 'zod';

/** What a worker reads from its environment. */
export const WorkerEnv = z
  .object({
    WORKER_KINDS: fields.words().optional().describe('Which kinds this worker takes. Unset: all.'),
    WORKER_CONCURRENCY: fields
      .wholeNumber(1)
      .prefault('10')
      .describe('How many jobs of each queue it runs at once.'),
    WORKER_LOCK: fields
      .durationOfAtLeast(1_000)
      .prefault('10s')
      .describe(
        'How long a run is held without a sign of life: when a worker is killed, its jobs start again after this.',
      ),
    ...resolversEnv(process.env),
    ...workloadVariables('worker'),
    ...FleetEnv,
    ...fields.HealthEnv,
    ...fields.DurabilityEnv,
  })
  .superRefine(checkStoreVariables, { when: ALWAYS });

export type WorkerEnv = z.output<typeof WorkerEnv>;
