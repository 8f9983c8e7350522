import { Audit } from '#http';
import { SweepBook, Sweeper, type SweepKind, type SweepLine, type SweepRecord, type Trip } from '#lifecycle';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBearerAuth, ApiBody, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, Needs } from '../auth/api-key.guard.js';
import { Offset } from '../fields.js';
import { ApiProblem } from '../problem.js';
import {
  SweepAsked,
  SweepBody,
  NoQuery,
  SweepKindParam,
  SweepsAnswer,
  SweepWithLines,
} from './sweeps-schemas.js';

/** Request, list and read sweeps. */
@ApiTags('admin')
@ApiBearerAuth()
@Controller('v1/admin/sweeps')
export class SweepsController {
  constructor(
    private readonly sweeper: Sweeper,
    private readonly book: SweepBook,
    private readonly audit: Audit,
  ) {}

  @Post(':kind')
  @HttpCode(202)
  @Needs('admin')
  @ApiBody({ required: false })
  @ApiAcceptedResponse({ standardSchema: SweepAsked })
  async ask(
    @Param('kind', { schema: SweepKindParam }) kind: SweepKind,
    @Query({ schema: NoQuery }) _query: unknown,
    @Caller() caller: string,
    @Body({ schema: SweepBody }) body?: SweepBody,
  ): Promise<SweepAsked> {
    const { dryRun = false, force = false, acknowledge = false } = body ?? {};
    if (acknowledge && !dryRun) await this.book.acknowledge(kind);
    const { sweepId } = await this.sweeper.ask(kind, { dryRun, force });
    this.audit.record(caller, { event: 'sweep.asked', sweep: kind, sweepId, dryRun, force, acknowledge });
    return { sweepId };
  }

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SweepsAnswer })
  async list(): Promise<{ sweeps: SweepRecord[]; tripped: Partial<Record<SweepKind, Trip>> }> {
    const [sweeps, tripped] = await Promise.all([this.book.newest(), this.book.trips()]);
    return { sweeps, tripped };
  }

  @Get(':sweepId')
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SweepWithLines })
  async read(
    @Param('sweepId') sweepId: string,
    @Query('cursor', { schema: Offset }) cursor = '0',
  ): Promise<SweepRecord & { lines: SweepLine[]; cursor: string | null }> {
    const record = await this.book.find(sweepId);
    if (!record)
      throw new ApiProblem(
        404,
        'NOT_FOUND',
        'There is no sweep with this id, or its record has expired: the last 200 of each kind are kept for 7 days.',
      );
    const { lines, next } = await this.book.lines(sweepId, Number(cursor));
    return { ...record, lines, cursor: next === null ? null : String(next) };
  }
}
