import { ArtifactsEnv } from '#artifacts';
import { readOwnerResolvers } from '#resolvers';
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
    OWNER_RESOLVERS: z
      .string()
      .transform((path, context) => readOwnerResolvers(path, context, process.env))
      .optional()
      .meta({ form: 'file' })
      .describe(
        'A JSON file that says who knows which owners live, for types that no code resolves; see `docs/resolvers.md`.',
      ),
    PROBE: z.enum(['on', 'off']).default('on').describe('Whether this worker takes the `probe` kind.'),
    ...fields.HealthEnv,
    ...fields.EventsOutEnv,
    ...fields.RetentionEnv,
    ...ArtifactsEnv,
    ...fields.StoreEnv,
    ...fields.ShutdownEnv,
    ...fields.LogEnv,
  })
  .superRefine(checkStoreVariables, { when: ALWAYS });

export type WorkerEnv = z.output<typeof WorkerEnv>;
