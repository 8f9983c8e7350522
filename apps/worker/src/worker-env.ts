import { ArtifactsEnv } from '#artifacts';
import { workloadVariables } from '#fleet';
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
    MAX_WAITING: fields
      .wholeNumber(1)
      .prefault('100000')
      .describe('How many jobs may wait in a queue, those that handlers add too; the same as for the api.'),
    ...workloadVariables('worker'),
    ...fields.HealthEnv,
    ...fields.EventsOutEnv,
    ...fields.RetentionEnv,
    ...fields.CancelEnv,
    ...ArtifactsEnv,
    ...fields.StoreEnv,
    ...fields.DurabilityEnv,
    ...fields.ShutdownEnv,
    ...fields.LogEnv,
  })
  .superRefine(checkStoreVariables, { when: ALWAYS });

export type WorkerEnv = z.output<typeof WorkerEnv>;
