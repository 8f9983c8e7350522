import { Get, Query, Req } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { CallerLimits, Limits } from './access/caller-limits.js';
import { Touches } from './access/touches.js';
import { NoQuery } from './admin-schemas.js';
import { MeAnswer } from './me-schemas.js';
import { MooringController } from './mooring-controller.js';
import { Describes } from './openapi/describes.js';
import { ME } from './openapi/fleet.js';
import { Needs, SCOPES, type CalledRequest } from './scopes.js';

/** Tells a caller what it may do, so that a page shows no button that would be refused. */
@Describes(ME)
@MooringController('me', 'fleet')
export class MeController {
  @Get()
  @Needs('read')
  @Touches('checked')
  @ApiOkResponse({ standardSchema: MeAnswer })
  read(
    @Query({ schema: NoQuery }) _query: unknown,
    @Req() { caller = '', scopes }: CalledRequest,
    @Limits() limits: CallerLimits,
  ): MeAnswer {
    const held = SCOPES.filter((scope) => scopes?.has(scope) ?? true);
    return { name: caller, scopes: held, ...limits.inAnswer } as MeAnswer;
  }
}
