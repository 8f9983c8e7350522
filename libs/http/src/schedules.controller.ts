import { Body, Delete, Get, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse } from '@nestjs/swagger';
import { z } from 'zod';
import { Journal, KindRegistry, Schedules } from '#nestjs';
import { Cursor, Duration, NextCursor } from './fields.js';
import { Work } from './job-schemas.js';
import { MooringController, type Reply } from './mooring-controller.js';
import { ApiProblem, notFound } from './problem.js';
import { Caller, Needs } from './scopes.js';
import { slotOfCallers } from './callers-keys.js';
import { Describes } from './openapi/describes.js';
import { SCHEDULES } from './openapi/flows-and-schedules.js';

const ScheduleBody = z
  .strictObject({
    ...Work,
    owners: Work.owners.describe('Owners of its jobs. Cancelling one of them ends the schedule.'),
    every: Duration.optional().describe('Interval, from 1s to 365d. Set either this or cron.'),
    cron: z.string().max(256).optional().describe('Five or six fields; with six, the first is the second.'),
    timezone: z.string().max(64).optional().describe('Time zone of cron, as in Europe/Berlin; default UTC.'),
  })
  .meta({ id: 'PutSchedule' });
type ScheduleBody = z.output<typeof ScheduleBody>;

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
    state: z.literal('active'),
    error: z.null(),
  })
  .meta({ id: 'Schedule' });
export const SchedulesAnswer = z
  .object({ schedules: z.array(ScheduleAnswer), cursor: NextCursor })
  .meta({ id: 'Schedules' });

const NO_SUCH_SCHEDULE = 'There is no schedule with this id.';

/** Create, replace, list, read and delete schedules. */
@Describes(SCHEDULES)
@MooringController('schedules', 'schedules')
export class SchedulesController {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly schedules: Schedules,
    private readonly journal: Journal,
  ) {}

  @Get()
  @Needs('read')
  @ApiOkResponse({ standardSchema: SchedulesAnswer })
  list(@Query('cursor', { schema: Cursor }) cursor?: string): Promise<object> {
    return this.schedules.list(cursor);
  }

  @Put(':id')
  @Needs('enqueue')
  @ApiCreatedResponse({ standardSchema: ScheduleAnswer })
  @ApiOkResponse({ standardSchema: ScheduleAnswer, description: 'It replaced the schedule with that id.' })
  async put(
    @Param('id') id: string,
    @Body({ schema: ScheduleBody }) { kind, slot, ...options }: ScheduleBody,
    @Caller() caller: string,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<object> {
    const put = { ...options, ...(slot && { slot: slotOfCallers(slot) }) };
    const { outcome, schedule } = await this.schedules.put(id, this.kinds.offered(kind), put);
    if (!schedule) throw endedAtOnce();
    this.journal.tell({ event: `schedule.${outcome}`, by: caller || 'api', schedule: id });
    reply.status(outcome === 'created' ? 201 : 200);
    return schedule;
  }

  @Get(':id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: ScheduleAnswer })
  async read(@Param('id') id: string): Promise<object> {
    const schedule = await this.schedules.get(id);
    if (!schedule) throw notFound(NO_SUCH_SCHEDULE);
    return schedule;
  }

  @Delete(':id')
  @HttpCode(204)
  @Needs('enqueue')
  @ApiNoContentResponse({ description: 'The schedule creates no more jobs. Jobs that it created continue.' })
  async remove(@Param('id') id: string, @Caller() caller: string): Promise<void> {
    if (!(await this.schedules.remove(id))) throw notFound(NO_SUCH_SCHEDULE);
    this.journal.tell({ event: 'schedule.deleted', by: caller || 'api', schedule: id });
  }
}

function endedAtOnce(): ApiProblem {
  return new ApiProblem(
    409,
    'SCHEDULE_ENDED',
    'One of its owners was cancelled meanwhile, which ended the schedule.',
  );
}
