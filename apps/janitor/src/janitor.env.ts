import { readEventMap } from '#events';
import { ALWAYS, checkStoreVariables, fields } from '#runtime';
import { z } from 'zod';

/** What a janitor reads from its environment. */
export const JanitorEnv = z
  .object({
    CENSUS_EVERY: fields.duration
      .prefault('15s')
      .describe('How often the queues are counted for the metrics.'),
    EVENT_MAP: z
      .string()
      .transform(readEventMap)
      .optional()
      .meta({ form: 'file' })
      .describe(
        'A JSON file that says which events of the stream cancel which owners; see `docs/events.md`.',
      ),
    SCHEDULES_EVERY: fields.duration
      .prefault('1s')
      .describe('How often is looked which schedules are due: as late as that a turn may come.'),
    MAX_WAITING: fields
      .wholeNumber(1)
      .prefault('100000')
      .describe('How many jobs may wait in a queue, those of schedules too; the same as for the api.'),
    PROBE: z.enum(['on', 'off']).default('on').describe('Whether the `probe` queue is looked after.'),
    ...fields.HealthEnv,
    ...fields.EventsOutEnv,
    ...fields.StoreEnv,
    ...fields.ShutdownEnv,
    ...fields.LogEnv,
  })
  .superRefine(checkStoreVariables, { when: ALWAYS });

export type JanitorEnv = z.output<typeof JanitorEnv>;
