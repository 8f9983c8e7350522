import { Audit } from '#http';
import { KindRegistry, parseOwner, Schedules, SlotLimits, type ScheduleView } from '#lifecycle';
import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller, Needs } from '../auth/api-key.guard.js';
import { Cursor } from '../fields.js';
import { ApiProblem } from '../problem.js';
import { ScheduleAnswer, ScheduleBody, SchedulesAnswer } from './schedules-schemas.js';

/** Create, replace, list, read and delete schedules. */
@ApiTags('schedules')
@ApiBearerAuth()
@Controller('v1/schedules')
export class SchedulesController {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly schedules: Schedules,
    private readonly audit: Audit,
    private readonly slots: SlotLimits,
  ) {}

  @Get()
  @Needs('read')
  @ApiOkResponse({ standardSchema: SchedulesAnswer })
  list(
    @Query('cursor', { schema: Cursor }) cursor?: string,
  ): Promise<{ schedules: ScheduleView[]; cursor: string | null }> {
    return this.schedules.list(cursor);
  }

  @Put(':id')
  @Needs('enqueue')
  @ApiCreatedResponse({ standardSchema: ScheduleAnswer })
  @ApiOkResponse({ standardSchema: ScheduleAnswer, description: 'It replaced the schedule with that id.' })
  async put(
    @Param('id') id: string,
    @Body({ schema: ScheduleBody }) { kind: name, owners: texts, slot, ...options }: ScheduleBody,
    @Caller() caller: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScheduleView> {
    const kind = this.kinds.offered(name);
    const owners = texts.map(parseOwner);
    const own = slot && ({ ...slot, space: 'callers' } as const);
    if (slot) await this.slots.check(slot);
    const { outcome, schedule } = await this.schedules.put(id, kind, { ...options, owners, slot: own });
    if (slot) await this.slots.claim(slot);
    this.audit.record(caller, { event: `schedule.${outcome}`, schedule: id });
    reply.status(outcome === 'created' ? 201 : 200);
    return schedule;
  }

  @Get(':id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: ScheduleAnswer })
  async read(@Param('id') id: string): Promise<ScheduleView> {
    const schedule = await this.schedules.read(id);
    if (!schedule) throw unknown();
    return schedule;
  }

  @Delete(':id')
  @HttpCode(204)
  @Needs('enqueue')
  @ApiNoContentResponse({ description: 'The schedule creates no more jobs. Jobs that it created continue.' })
  async remove(@Param('id') id: string, @Caller() caller: string): Promise<void> {
    if (!(await this.schedules.remove(id))) throw unknown();
    this.audit.record(caller, { event: 'schedule.deleted', schedule: id });
  }
}

function unknown(): ApiProblem {
  return new ApiProblem(404, 'NOT_FOUND', 'There is no schedule with this id.');
}
