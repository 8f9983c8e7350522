import { formatOwner, owner, Owners, type CancelOptions, type HistoryEntry } from '#core';
import { Body, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import {
  JobHistory,
  Journal,
  type JournaledOwners,
  fromCursor,
  MOORING_OPTIONS,
  type MooringOptions,
  OwnerFinder,
  type OwnerPage,
  OwnerReader,
  type OwnerView,
  receiptOf,
  type ReceiptView,
  toCursor,
  viewOfReceipt,
} from '#nestjs';
import { Audits } from './access/audited.js';
import { type CallerLimits, type LimitedAnswer, Limits } from './access/caller-limits.js';
import { Touches } from './access/touches.js';
import { Cursor, Offset } from './fields.js';
import { CancellationsAnswer, CancellationsQuery, OwnersAnswer, OwnersQuery } from './list-schemas.js';
import { DescribesQuery } from './describes-query.js';
import { MooringController } from './mooring-controller.js';
import {
  CancelBody,
  HistoryAnswer,
  type HistoryView,
  OwnerAnswer,
  ReceiptAnswer,
  ReopenAnswer,
} from './owner-schemas.js';
import { notFound } from './problem.js';
import { Caller, Needs } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { CANCELLATIONS, OWNER, OWNERS } from './openapi/owners.js';

const HISTORY_PAGE = 100;
/** µs */
const RECEIPT_TIME = /^\d{1,17}$/;
type HistoryItem = HistoryView['entries'][number];

/** Read, cancel and reopen an owner, and read its history. */
@Describes(OWNER)
@MooringController('owners/:type/:id', 'owners')
export class OwnersController {
  constructor(
    @Inject(Owners) private readonly owners: JournaledOwners,
    private readonly reader: OwnerReader,
    private readonly jobs: JobHistory,
    @Inject(MOORING_OPTIONS) private readonly settings: MooringOptions,
  ) {}

  @Get()
  @Needs('read')
  @Touches('owner')
  @ApiOkResponse({ standardSchema: OwnerAnswer })
  read(
    @Param('type') type: string,
    @Param('id') id: string,
    @Query('cursor', { schema: Cursor }) cursor?: string,
  ): Promise<OwnerView> {
    return this.reader.read(owner(type, id), cursor);
  }

  @Post('cancel')
  @HttpCode(200)
  @Needs('cancel')
  @Touches('owner')
  @Audits('owner.cancel', { details: ['reason', 'close', 'cancelId', 'dryRun'] })
  @ApiBody({ required: false })
  @ApiOkResponse({ standardSchema: ReceiptAnswer })
  async cancel(
    @Param('type') type: string,
    @Param('id') id: string,
    @Body({ schema: CancelBody }) body: CancelBody,
    @Caller() caller: string,
  ): Promise<ReceiptView> {
    const options = { ...body, by: caller || 'api' } as CancelOptions;
    return viewOfReceipt(await receiptOf(this.owners.cancel(owner(type, id), options)), this.settings);
  }

  @Post('reopen')
  @HttpCode(200)
  @Needs('cancel')
  @Touches('owner')
  @Audits('owner.reopen')
  @ApiOkResponse({ standardSchema: ReopenAnswer })
  async reopen(
    @Param('type') type: string,
    @Param('id') id: string,
    @Caller() caller: string,
  ): Promise<object> {
    const { state, epoch } = await this.owners.reopen(owner(type, id), { by: caller || 'api' });
    return { owner: `${type}:${id}`, state, epoch };
  }

  @Get('history')
  @Needs('read')
  @Touches('owner')
  @ApiOkResponse({ standardSchema: HistoryAnswer })
  async history(
    @Param('type') type: string,
    @Param('id') id: string,
    @Query('cursor', { schema: Offset }) cursor = '0',
  ): Promise<HistoryView> {
    const named = owner(type, id);
    const next = Number(cursor) + HISTORY_PAGE;
    const found = await this.owners.history(named, Number(cursor), HISTORY_PAGE + 1);
    const entries = await Promise.all(found.slice(0, HISTORY_PAGE).map((entry) => this.detail(entry)));
    return {
      owner: formatOwner(named),
      entries,
      cursor: found.length > HISTORY_PAGE ? String(next) : null,
    };
  }

  private async detail({ id, queue, at, reason: why }: HistoryEntry): Promise<HistoryItem> {
    const removed = await this.jobs.findRemoved(queue, id);
    const item = { id, queue, at: new Date(at).toISOString() };
    if (!removed) return { ...item, state: 'unknown', why };
    const { kind, owners, was: state, reason, by, operation, cancelId } = removed;
    const cause = { ...(operation && { reason: operation }), ...(by && { by }) };
    const known = { ...item, kind, owners: [...owners], state, why: reason, ...cause };
    return cancelId ? { ...known, ...(await this.causeOf(cancelId)), cancelId } : known;
  }

  private async causeOf(cancelId: string): Promise<Pick<HistoryItem, 'reason' | 'by'>> {
    const { reason, by } = (await this.owners.receipt(cancelId)) ?? {};
    return { ...(reason && { reason }), ...(by && { by }) };
  }
}

/** List the owners that have unfinished jobs or a record. */
@Describes(OWNERS)
@MooringController('owners', 'owners')
export class OwnerListController {
  constructor(private readonly finder: OwnerFinder) {}

  @Get()
  @Needs('read')
  @Touches('checked')
  @DescribesQuery(OwnersQuery)
  @ApiOkResponse({ standardSchema: OwnersAnswer })
  async list(
    @Query({ schema: OwnersQuery }) { cursor, limit, ...filter }: OwnersQuery,
    @Limits() limits: CallerLimits,
  ): Promise<OwnerPage & LimitedAnswer> {
    limits.checkWholeOwners(filter.type === undefined ? [] : [filter.type]);
    if (filter.type === undefined) limits.checkOwners([filter.prefix ?? '']);
    const page = await this.finder.find({ ...filter, types: limits.within?.ownerTypes }, { cursor, limit });
    return { ...page, ...limits.inAnswer };
  }
}

/** List cancellations, and read the current receipt of one. */
@Describes(CANCELLATIONS)
@MooringController('cancellations', 'cancellations')
export class CancellationsController {
  private resuming: Promise<unknown> | undefined;

  constructor(
    @Inject(Owners) private readonly owners: Owners,
    private readonly journal: Journal,
    @Inject(MOORING_OPTIONS) private readonly settings: MooringOptions,
  ) {}

  @Get()
  @Needs('read')
  @Touches('checked')
  @DescribesQuery(CancellationsQuery)
  @ApiOkResponse({ standardSchema: CancellationsAnswer })
  async list(
    @Query({ schema: CancellationsQuery }) { open, cursor: from, limit }: CancellationsQuery,
    @Limits() limits: CallerLimits,
  ): Promise<{ cancellations: ReceiptView[]; cursor: string | null } & LimitedAnswer> {
    limits.checkWholeOwners();
    const before = from === undefined ? undefined : fromCursor(from, RECEIPT_TIME);
    const { receipts, cursor } = await this.owners.listReceipts({ open, cursor: before, limit });
    return {
      cancellations: receipts
        .map((receipt) => viewOfReceipt(receipt, this.settings))
        .filter(({ owner: of }) => limits.admitsOwner(of)),
      cursor: cursor === undefined ? null : toCursor(cursor),
      ...limits.inAnswer,
    };
  }

  @Get(':cancelId')
  @Needs('read')
  @Touches('checked')
  @ApiOkResponse({ standardSchema: ReceiptAnswer })
  async read(@Param('cancelId') cancelId: string, @Limits() limits: CallerLimits): Promise<ReceiptView> {
    limits.checkWholeOwners();
    const receipt = await this.owners.receipt(cancelId);
    const view = receipt && viewOfReceipt(receipt, this.settings);
    if (view && limits.admitsOwner(view.owner)) {
      if (!view.done) this.resume();
      return view;
    }
    throw notFound('There is no cancellation with this id, or its receipt has expired.');
  }

  /** Who watches a cancel does not wait for the turn of a worker or a janitor: there may be none. */
  private resume(): void {
    this.resuming ??= this.owners
      .resume()
      .catch((error: unknown) => this.journal.trouble('The clean-up of cancels', error))
      .finally(() => (this.resuming = undefined));
  }
}
