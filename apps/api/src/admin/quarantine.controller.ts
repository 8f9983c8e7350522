import { Quarantine, type Quarantined } from '#lifecycle';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Needs } from '../auth/api-key.guard.js';
import { Offset } from '../fields.js';
import { QuarantineAnswer } from './sweeps-schemas.js';

/** Lists the jobs that the retention sweep cannot remove. */
@ApiTags('admin')
@ApiBearerAuth()
@Controller('v1/admin/quarantine')
export class QuarantineController {
  constructor(private readonly quarantine: Quarantine) {}

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: QuarantineAnswer })
  async list(
    @Query('cursor', { schema: Offset }) cursor = '0',
  ): Promise<{ jobs: Quarantined[]; cursor: string | null }> {
    const { jobs, next } = await this.quarantine.page(Number(cursor));
    return { jobs, cursor: next === null ? null : String(next) };
  }
}
