import { Slots } from '#core';
import { Body, Get, Inject, Param, Put } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import type { z } from 'zod';
import { Journal, slotKeyOfCallers } from '#nestjs';
import { SlotAnswer, SlotBody } from './admin-schemas.js';
import { SlotKey } from './fields.js';
import { MooringController } from './mooring-controller.js';
import { Caller, Needs } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { SLOTS } from './openapi/admin.js';

type CallersSlot = z.output<typeof SlotAnswer>;

const NONE = { holding: 0, waiting: 0, holders: [], line: [], limit: undefined };

/** Read the holders and waiters of a slot key, and set its limit. The keys of callers are apart from those of kinds. */
@Describes(SLOTS)
@MooringController('admin/slots/:key', 'admin')
export class SlotsController {
  constructor(
    @Inject(Slots) private readonly slots: Slots,
    private readonly journal: Journal,
  ) {}

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SlotAnswer })
  async read(@Param('key', { schema: SlotKey }) key: string): Promise<CallersSlot> {
    const found = (await this.slots.get(slotKeyOfCallers(key))) ?? NONE;
    const { limit = null, holding, waiting } = found;
    const holders = found.holders.map(({ id, since }) => ({
      jobId: id,
      since: new Date(since).toISOString(),
    }));
    return { key, limit, holding, waiting, holders, waiters: found.line.map(({ id }) => id) };
  }

  @Put()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SlotAnswer })
  async set(
    @Param('key', { schema: SlotKey }) key: string,
    @Body({ schema: SlotBody }) { limit }: SlotBody,
    @Caller() caller: string,
  ): Promise<CallersSlot> {
    const was = (await this.slots.setLimit(slotKeyOfCallers(key), limit)) ?? null;
    this.journal.tell({ event: 'slot.limit-set', by: caller || 'api', key, limit, was });
    return this.read(key);
  }
}
