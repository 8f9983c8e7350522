import { Slots } from '#core';
import { Body, Get, Inject, Param, Put } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import type { z } from 'zod';
import { Journal, slotKeyOfCallers } from '#nestjs';
import { Audits } from './access/audited.js';
import { Touches } from './access/touches.js';
import { SlotAnswer, SlotBody } from './admin-schemas.js';
import { SlotKey } from './fields.js';
import { MooringController } from './mooring-controller.js';
import { Caller, Needs } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { SLOTS } from './openapi/admin.js';

type CallersSlot = z.output<typeof SlotAnswer>;

const NONE = { holding: 0, waiting: 0, holders: [], line: [], limit: undefined };

/** Read the holders and waiters of a slot key, and set its limit and rate. The keys of callers are apart from those of kinds. */
@Describes(SLOTS)
@MooringController('admin/slots/:key', 'admin')
@Touches('fleet')
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
    const {
      limit = null,
      holding,
      waiting,
      rate,
      tokenInMs,
    } = { rate: undefined, tokenInMs: undefined, ...found };
    const holders = found.holders.map(({ id, since }) => ({
      jobId: id,
      since: new Date(since).toISOString(),
    }));
    const rated = rate && { rate, tokenInMs };
    return { key, limit, ...rated, holding, waiting, holders, waiters: found.line.map(({ id }) => id) };
  }

  @Put()
  @Needs('admin')
  @Audits('slot.set-limit', { on: ['key'], details: ['limit', 'rate'] })
  @ApiOkResponse({ standardSchema: SlotAnswer })
  async set(
    @Param('key', { schema: SlotKey }) key: string,
    @Body({ schema: SlotBody }) { limit, rate }: SlotBody,
    @Caller() caller: string,
  ): Promise<CallersSlot> {
    const [slot, by] = [slotKeyOfCallers(key), caller || 'api'];
    if (limit !== undefined) {
      const was = (await this.slots.setLimit(slot, limit)) ?? null;
      this.journal.tell({ event: 'slot.limit-set', by, key, limit, was });
    }
    if (rate !== undefined) {
      await this.slots.setRate(slot, rate);
      this.journal.tell({ event: 'slot.rate-set', by, key, rate });
    }
    return this.read(key);
  }
}
