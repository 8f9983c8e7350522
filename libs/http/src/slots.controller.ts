import { Body, Get, Param, Put } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Journal } from '#nestjs';
import { SlotAnswer, SlotBody } from './admin-schemas.js';
import { SlotKey } from './fields.js';
import { MooringController } from './mooring-controller.js';
import { Caller, Needs } from './scopes.js';
import { SlotLimits, type CallersSlot } from './slot-limits.js';

/** Read the holders and waiters of a slot key, and set its limit. */
@MooringController('admin/slots/:key', 'admin')
export class SlotsController {
  constructor(
    private readonly slots: SlotLimits,
    private readonly journal: Journal,
  ) {}

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SlotAnswer })
  read(@Param('key', { schema: SlotKey }) key: string): Promise<CallersSlot> {
    return this.slots.read(key);
  }

  @Put()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SlotAnswer })
  async set(
    @Param('key', { schema: SlotKey }) key: string,
    @Body({ schema: SlotBody }) { limit }: SlotBody,
    @Caller() caller: string,
  ): Promise<CallersSlot> {
    const was = await this.slots.set(key, limit);
    this.journal.tell({ event: 'slot.limit-set', by: caller || 'api', key, limit, was });
    return this.slots.read(key);
  }
}
