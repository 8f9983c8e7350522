import { ArtifactsEnv } from '#artifacts';
import { workloadVariables } from '#fleet';
import { resolversEnv } from '#resolvers';
import { ALWAYS, checkStoreVariables, fields } from '#runtime';
import { ContainersEnv } from '#workloads/containers';
import { ChromiumEnv, FontsEnv } from '#workloads/diagrams';
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
    TRIPS: z
      .enum(['on', 'off'])
      .default('on')
      .describe(
        'Whether this worker takes the jobs of trips. The same for all: `WORKER_KINDS` shares the work out.',
      ),
    DIAGRAMS: z
      .enum(['on', 'off'])
      .default('on')
      .describe('Whether this worker draws diagrams. The same for all: `WORKER_KINDS` shares the work out.'),
    DIAGRAM_BACKLOG: fields
      .wholeNumber(1)
      .prefault('500')
      .describe(
        'How many diagrams may wait to be drawn, where that is fewer than `MAX_WAITING`. The same as for the api.',
      ),
    ...ChromiumEnv,
    ...FontsEnv,
    SITES: z
      .enum(['on', 'off'])
      .default('on')
      .describe('Whether this worker builds sites, and knows which owners of the type `site` live.'),
    ...ContainersEnv,
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
