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
      .describe('Owners of its jobs. Cancelling one of them ends the schedule.'),
    payload: z.unknown().optional().describe("Must match the kind's schema."),
    every: Duration.optional().describe('Interval, from 1s to 365d. Set either this or cron.'),
    cron: z.string().max(256).optional().describe('Five or six fields; with six, the first is the second.'),
    timezone: z.string().max(64).optional().describe('Time zone of cron, as in Europe/Berlin; default UTC.'),
    expiresIn: Duration.optional().describe('How long after its due time a job may still start.'),
    ...Standing,
    dedup: z
      .strictObject({ strategy: z.enum(STRATEGIES), key: z.string().max(512).optional() })
      .optional()
      .describe(
        'Default skip with the id of the schedule as key: at most one of its jobs runs and one waits.',
      ),
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
    lastAt: z.iso.datetime().nullable().describe('When it was last due.'),
    lastJobId: z.string().nullable().describe('The job created at lastAt.'),
    state: z.enum(['active', 'failing']).describe('failing: its last job was refused; error says why.'),
    error: z.string().nullable(),
  })
  .meta({ id: 'Schedule' });

export const SchedulesAnswer = z
  .object({
    schedules: z.array(ScheduleAnswer),
    cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
  })
  .meta({ id: 'Schedules' });
