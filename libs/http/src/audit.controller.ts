import { AuditLog, type AuditPage } from '#nestjs';
import { Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Touches } from './access/touches.js';
import { AuditAnswer, AuditQuery } from './audit-schemas.js';
import { DescribesQuery } from './describes-query.js';
import { MooringController } from './mooring-controller.js';
import { AUDIT } from './openapi/admin.js';
import { Describes } from './openapi/describes.js';
import { Needs } from './scopes.js';

/** Read what callers changed. */
@Describes(AUDIT)
@MooringController('admin/audit', 'admin')
export class AuditController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  @Needs('admin')
  @Touches('fleet')
  @DescribesQuery(AuditQuery)
  @ApiOkResponse({ standardSchema: AuditAnswer })
  read(@Query({ schema: AuditQuery }) { cursor, limit, ...filter }: AuditQuery): Promise<AuditPage> {
    return this.log.read(filter, { cursor, limit });
  }
}
