import { STRATEGIES } from '#lifecycle';
import { z } from 'zod';
import { Duration } from '../fields.js';
import { Standing } from '../jobs/jobs-schemas.js';

/** `PUT /v1/schedules/{id}`. */
export const ScheduleBody = z
  .strictObject({
    kind: z.string().max(64),
    owners: z
      .array(z.string().max(600))
      .min(1)
      .max(4)
      .describe('Who its jobs are for. When one of them is cancelled the schedule ends.'),
    payload: z.unknown().optional().describe("What the kind's schema asks for."),
    every: Duration.optional().describe('How often, from 1s to 365d. Either this or cron.'),
    cron: z.string().max(256).optional().describe('Five or six fields; the first of six is the second.'),
    timezone: z
      .string()
      .max(64)
      .optional()
      .describe('In which cron is read, as in Europe/Berlin; default UTC.'),
    expiresIn: Duration.optional().describe('How long after its turn a job may still start.'),
    ...Standing,
    dedup: z
      .strictObject({ strategy: z.enum(STRATEGIES), key: z.string().max(512).optional() })
      .optional()
      .describe('Default skip, by the schedule’s id: one of its jobs runs and one waits at most.'),
  })
  .meta({ id: 'PutSchedule' });
export type ScheduleBody = z.output<typeof ScheduleBody>;

export const ScheduleAnswer = z
  .object({
    id: z.string(),
    kind: z.string(),
    owners: z.array(z.string()),
    every: z.union([z.number(), z.string()]).nullable(),
    cron: z.string().nullable(),
    timezone: z.string().nullable(),
    nextAt: z.iso.datetime(),
    lastAt: z.iso.datetime().nullable().describe('When it last had its turn.'),
    lastJobId: z.string().nullable().describe('The job that did it.'),
    state: z.enum(['active', 'failing']).describe('failing: its last turn was refused, as error says.'),
    error: z.string().nullable(),
  })
  .meta({ id: 'Schedule' });

export const SchedulesAnswer = z
  .object({
    schedules: z.array(ScheduleAnswer),
    cursor: z.string().nullable().describe('Where the next page begins; null on the last one.'),
  })
  .meta({ id: 'Schedules' });
