import { Body, Delete, Get, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse } from '@nestjs/swagger';
import { z } from 'zod';
import { Journal, KindRegistry, Schedules, type ScheduleView } from '#nestjs';
import { Audits } from './access/audited.js';
import { type CallerLimits, type LimitedAnswer, Limits } from './access/caller-limits.js';
import { Touches } from './access/touches.js';
import { Cursor, Duration, NextCursor } from './fields.js';
import { Work } from './job-schemas.js';
import { limitedTo } from './list-schemas.js';
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
  .object({ schedules: z.array(ScheduleAnswer), cursor: NextCursor, limitedTo })
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
  @Touches('checked')
  @ApiOkResponse({ standardSchema: SchedulesAnswer })
  async list(
    @Limits() limits: CallerLimits,
    @Query('cursor', { schema: Cursor }) from?: string,
  ): Promise<{ schedules: ScheduleView[]; cursor: string | null } & LimitedAnswer> {
    const { schedules, cursor } = await this.schedules.list(from);
    return {
      schedules: schedules.filter((schedule) => this.isFor(limits, schedule)),
      cursor,
      ...limits.inAnswer,
    };
  }

  @Put(':id')
  @Needs('enqueue')
  @Touches('checked')
  @Audits('schedule.put', { details: ['kind', 'owners', 'every', 'cron', 'timezone'] })
  @ApiCreatedResponse({ standardSchema: ScheduleAnswer })
  @ApiOkResponse({ standardSchema: ScheduleAnswer, description: 'It replaced the schedule with that id.' })
  async put(
    @Param('id') id: string,
    @Body({ schema: ScheduleBody }) { kind, slot, ...options }: ScheduleBody,
    @Caller() caller: string,
    @Limits() limits: CallerLimits,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<object> {
    limits.checkJob(this.jobOf({ kind, owners: options.owners }));
    await this.checkTaken(id, limits);
    const put = { ...options, ...(slot && { slot: slotOfCallers(slot) }) };
    const { outcome, schedule } = await this.schedules.put(id, this.kinds.offered(kind), put);
    if (!schedule) throw endedAtOnce();
    this.journal.tell({ event: `schedule.${outcome}`, by: caller || 'api', schedule: id });
    reply.status(outcome === 'created' ? 201 : 200);
    return schedule;
  }

  @Get(':id')
  @Needs('read')
  @Touches('checked')
  @ApiOkResponse({ standardSchema: ScheduleAnswer })
  async read(@Param('id') id: string, @Limits() limits: CallerLimits): Promise<object> {
    const schedule = await this.schedules.get(id);
    if (!schedule || !this.isFor(limits, schedule)) throw notFound(NO_SUCH_SCHEDULE);
    return schedule;
  }

  @Delete(':id')
  @HttpCode(204)
  @Needs('enqueue')
  @Touches('checked')
  @Audits('schedule.delete')
  @ApiNoContentResponse({ description: 'The schedule creates no more jobs. Jobs that it created continue.' })
  async remove(
    @Param('id') id: string,
    @Caller() caller: string,
    @Limits() limits: CallerLimits,
  ): Promise<void> {
    if (limits.within) await this.read(id, limits);
    if (!(await this.schedules.remove(id))) throw notFound(NO_SUCH_SCHEDULE);
    this.journal.tell({ event: 'schedule.deleted', by: caller || 'api', schedule: id });
  }

  /** A schedule of others is not replaced. The ids are the same for all callers, so this says that the id is in use. */
  private async checkTaken(id: string, limits: CallerLimits): Promise<void> {
    const before = limits.within && (await this.schedules.get(id));
    if (before && !this.isFor(limits, before))
      throw new ApiProblem(
        403,
        'FORBIDDEN',
        'This id is in use outside the limits of the key. Choose another.',
      );
  }

  private isFor(limits: CallerLimits, schedule: ScheduleView): boolean {
    const { queue = '', ...job } = this.jobOf(schedule);
    return limits.admits({ queue, ...job });
  }

  private jobOf<J extends { readonly kind: string; readonly owners: readonly string[] }>(
    job: J,
  ): J & { readonly queue: string | undefined } {
    return { ...job, queue: this.kinds.find(job.kind)?.queue };
  }
}

function endedAtOnce(): ApiProblem {
  return new ApiProblem(
    409,
    'SCHEDULE_ENDED',
    'One of its owners was cancelled meanwhile, which ended the schedule.',
  );
}
