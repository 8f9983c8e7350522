import { owner, OwnerReader, type OwnerView } from '#lifecycle';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Needs } from '../auth/api-key.guard.js';
import { OwnerAnswer } from './owners.schemas.js';

/** The store's own: a whole number of 64 bits. */
const Cursor = z
  .string()
  .regex(/^\d{1,20}$/)
  .refine((text) => BigInt.asUintN(64, BigInt(text)) === BigInt(text))
  .optional();

/** Owners by HTTP: what one has. */
@ApiTags('owners')
@ApiBearerAuth()
@Controller('v1/owners')
export class OwnersController {
  constructor(private readonly reader: OwnerReader) {}

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
}
