import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { Audits } from './access/audited.js';
import { Touches } from './access/touches.js';
import { NoQuery, QuarantineAnswer, SweepAsked, SweepBody } from './admin-schemas.js';
import { SweepKindParam, SweepsAnswer, SweepWithLines } from './admin-schemas.js';
import { Offset } from './fields.js';
import { Journal, Quarantine, SweepBook, Sweeper, type SweepRecord } from '#nestjs';
import { MooringController } from './mooring-controller.js';
import { notFound } from './problem.js';
import { Caller, Needs } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { QUARANTINE, SWEEPS } from './openapi/admin.js';

const NO_SUCH_SWEEP =
  'There is no sweep with this id, or its record has expired: the last 200 of each kind are kept for 7 days.';

/** Request, list and read sweeps. */
@Describes(SWEEPS)
@MooringController('admin/sweeps', 'admin')
@Touches('fleet')
export class SweepsController {
  constructor(
    private readonly sweeper: Sweeper,
    private readonly book: SweepBook,
    private readonly journal: Journal,
  ) {}

  @Post(':sweep')
  @HttpCode(202)
  @Needs('admin')
  @Audits('sweep.ask', { on: ['sweep'], details: ['dryRun', 'force', 'acknowledge'] })
  @ApiBody({ required: false })
  @ApiAcceptedResponse({ standardSchema: SweepAsked })
  async ask(
    @Param('sweep', { schema: SweepKindParam }) kind: string,
    @Query({ schema: NoQuery }) _query: unknown,
    @Caller() caller: string,
    @Body({ schema: SweepBody }) body?: SweepBody,
  ): Promise<SweepAsked> {
    const { dryRun = false, force = false, acknowledge = false } = body ?? {};
    if (acknowledge && !dryRun) await this.book.acknowledge(kind);
    const { sweepId } = await this.sweeper.ask(kind, { dryRun, force });
    this.journal.tell({
      event: 'sweep.asked',
      by: caller || 'api',
      sweep: kind,
      sweepId,
      dryRun,
      force,
      acknowledge,
    });
    return { sweepId };
  }

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SweepsAnswer })
  async list(): Promise<object> {
    const [sweeps, tripped] = await Promise.all([this.book.newest(), this.book.trips()]);
    return { sweeps: sweeps.map(shown), tripped };
  }

  @Get(':sweep')
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SweepWithLines })
  async read(
    @Param('sweep') sweepId: string,
    @Query('cursor', { schema: Offset }) cursor = '0',
  ): Promise<object> {
    const record = await this.book.find(sweepId);
    if (!record) throw notFound(NO_SUCH_SWEEP);
    const { lines, next } = await this.book.lines(sweepId, Number(cursor));
    return { ...shown(record), lines, cursor: next === null ? null : String(next) };
  }
}

/** Without the place in the store that it continues from. */
function shown({ position: _position, ...record }: SweepRecord): Omit<SweepRecord, 'position'> {
  return record;
}

/** Lists the jobs that the retention sweep cannot remove. */
@Describes(QUARANTINE)
@MooringController('admin/quarantine', 'admin')
@Touches('fleet')
export class QuarantineController {
  constructor(private readonly quarantine: Quarantine) {}

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: QuarantineAnswer })
  async list(@Query('cursor', { schema: Offset }) cursor = '0'): Promise<object> {
    const { jobs, next } = await this.quarantine.page(Number(cursor));
    return { jobs, cursor: next === null ? null : String(next) };
  }
}
