import { Audit } from '#http';
import {
  Canceller,
  owner,
  OwnerReader,
  Removals,
  type HistoryView,
  type OwnerState,
  type OwnerView,
  type Receipt,
} from '#lifecycle';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, Needs } from '../auth/api-key.guard.js';
import { Cursor, Offset } from '../fields.js';
import { CancelBody, ReceiptAnswer } from '../cancellations/cancellations-schemas.js';
import { HistoryAnswer, OwnerAnswer, ReopenAnswer } from './owners-schemas.js';

/** Read, cancel and reopen an owner, and read its history. */
@ApiTags('owners')
@ApiBearerAuth()
@Controller('v1/owners')
export class OwnersController {
  constructor(
    private readonly reader: OwnerReader,
    private readonly canceller: Canceller,
    private readonly removals: Removals,
    private readonly audit: Audit,
  ) {}

  @Get(':type/:id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: OwnerAnswer })
  read(
    @Param('type') type: string,
    @Param('id') id: string,
    @Query('cursor', { schema: Cursor }) cursor?: string,
  ): Promise<OwnerView> {
    return this.reader.read(owner(type, id), cursor);
  }

  @Post(':type/:id/cancel')
  @HttpCode(200)
  @Needs('cancel')
  @ApiBody({ required: false })
  @ApiOkResponse({ standardSchema: ReceiptAnswer })
  cancel(
    @Param('type') type: string,
    @Param('id') id: string,
    @Body({ schema: CancelBody }) body: CancelBody,
    @Caller() caller: string,
  ): Promise<Receipt> {
    return this.canceller.cancel(owner(type, id), { ...body, by: caller || 'api' });
  }

  @Post(':type/:id/reopen')
  @HttpCode(200)
  @Needs('cancel')
  @ApiOkResponse({ standardSchema: ReopenAnswer })
  async reopen(
    @Param('type') type: string,
    @Param('id') id: string,
    @Caller() caller: string,
  ): Promise<OwnerState> {
    const state = await this.canceller.reopen(owner(type, id));
    this.audit.record(caller, { event: 'owner.reopened', owner: state.owner });
    return state;
  }

  @Get(':type/:id/history')
  @Needs('read')
  @ApiOkResponse({ standardSchema: HistoryAnswer })
  history(
    @Param('type') type: string,
    @Param('id') id: string,
    @Query('cursor', { schema: Offset }) cursor?: string,
  ): Promise<HistoryView> {
    return this.removals.ofOwner(owner(type, id), cursor);
  }
}
