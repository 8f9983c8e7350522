import { Audit } from '#http';
import { SlotLimits, type SlotView } from '#lifecycle';
import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, Needs } from '../auth/api-key.guard.js';
import { SlotAnswer, SlotBody } from './slots-schemas.js';

/** Read the holders and waiters of a slot key, and set its limit. */
@ApiTags('admin')
@ApiBearerAuth()
@Controller('v1/admin/slots/:key')
export class SlotsController {
  constructor(
    private readonly slots: SlotLimits,
    private readonly audit: Audit,
  ) {}

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SlotAnswer })
  read(@Param('key') key: string): Promise<SlotView> {
    return this.slots.read(key);
  }

  @Put()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: SlotAnswer })
  async set(
    @Param('key') key: string,
    @Body({ schema: SlotBody }) { limit }: SlotBody,
    @Caller() caller: string,
  ): Promise<SlotView> {
    const was = await this.slots.set(key, limit);
    this.audit.record(caller, { event: 'slot.limit-set', key, limit, was });
    return this.slots.read(key);
  }
}
