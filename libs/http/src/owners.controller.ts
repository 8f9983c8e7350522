import { owner, Owners, type CancelOptions } from '#core';
import { Body, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import {
  Journal,
  type JournaledOwners,
  OwnerReader,
  type OwnerView,
  receiptOf,
  type ReceiptView,
  viewOfReceipt,
} from '#nestjs';
import { Cursor, Offset } from './fields.js';
import { MooringController } from './mooring-controller.js';
import { OwnerHistory, type HistoryView } from './owner-history.js';
import { CancelBody, HistoryAnswer, OwnerAnswer, ReceiptAnswer, ReopenAnswer } from './owner-schemas.js';
import { ApiProblem } from './problem.js';
import { Caller, Needs } from './scopes.js';

/** Read, cancel and reopen an owner, and read its history. */
@MooringController('owners/:type/:id', 'owners')
export class OwnersController {
  constructor(
    @Inject(Owners) private readonly owners: JournaledOwners,
    private readonly reader: OwnerReader,
    private readonly removed: OwnerHistory,
  ) {}

  @Get()
  @Needs('read')
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
  @ApiBody({ required: false })
  @ApiOkResponse({ standardSchema: ReceiptAnswer })
  async cancel(
    @Param('type') type: string,
    @Param('id') id: string,
    @Body({ schema: CancelBody }) body: CancelBody,
    @Caller() caller: string,
  ): Promise<ReceiptView> {
    const options = { ...body, by: caller || 'api' } as CancelOptions;
    return viewOfReceipt(await receiptOf(this.owners.cancel(owner(type, id), options)));
  }

  @Post('reopen')
  @HttpCode(200)
  @Needs('cancel')
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
  @ApiOkResponse({ standardSchema: HistoryAnswer })
  history(
    @Param('type') type: string,
    @Param('id') id: string,
    @Query('cursor', { schema: Offset }) cursor?: string,
  ): Promise<HistoryView> {
    return this.removed.read(owner(type, id), cursor);
  }
}

/** Read the current receipt of a cancellation. */
@MooringController('cancellations', 'cancellations')
export class CancellationsController {
  private resuming: Promise<unknown> | undefined;

  constructor(
    @Inject(Owners) private readonly owners: Owners,
    private readonly journal: Journal,
  ) {}

  @Get(':cancelId')
  @Needs('read')
  @ApiOkResponse({ standardSchema: ReceiptAnswer })
  async read(@Param('cancelId') cancelId: string): Promise<ReceiptView> {
    const receipt = await this.owners.receipt(cancelId);
    if (receipt && !receipt.done) this.resume();
    if (receipt) return viewOfReceipt(receipt);
    const detail = 'There is no cancellation with this id, or its receipt has expired.';
    throw new ApiProblem(404, 'NOT_FOUND', detail);
  }

  /** Who watches a cancel does not wait for the turn of a worker or a janitor: there may be none. */
  private resume(): void {
    this.resuming ??= this.owners
      .resume()
      .catch((error: unknown) => this.journal.trouble('The clean-up of cancels', error))
      .finally(() => (this.resuming = undefined));
  }
}
