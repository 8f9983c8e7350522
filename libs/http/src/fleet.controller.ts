import { Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { KindList, type KindView, WorkerList, type WorkerView } from '#nestjs';
import { type CallerLimits, type LimitedAnswer, Limits } from './access/caller-limits.js';
import { Touches } from './access/touches.js';
import { NoQuery } from './admin-schemas.js';
import { KindsAnswer, WorkersAnswer } from './list-schemas.js';
import { MooringController } from './mooring-controller.js';
import { Needs } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { KINDS, WORKERS } from './openapi/fleet.js';

/** List the kinds of jobs. */
@Describes(KINDS)
@MooringController('kinds', 'fleet')
export class KindsController {
  constructor(private readonly kinds: KindList) {}

  @Get()
  @Needs('read')
  @Touches('checked')
  @ApiOkResponse({ standardSchema: KindsAnswer })
  list(
    @Query({ schema: NoQuery }) _query: unknown,
    @Limits() limits: CallerLimits,
  ): { kinds: KindView[] } & LimitedAnswer {
    const kinds = this.kinds.all().filter(({ name, queue }) => limits.admitsKind(name, queue));
    return { kinds, ...limits.inAnswer };
  }
}

/** List the processes that take jobs. */
@Describes(WORKERS)
@MooringController('workers', 'fleet')
export class WorkersController {
  constructor(private readonly workers: WorkerList) {}

  @Get()
  @Needs('read')
  @Touches('fleet')
  @ApiOkResponse({ standardSchema: WorkersAnswer })
  async list(@Query({ schema: NoQuery }) _query: unknown): Promise<{ workers: WorkerView[] }> {
    return { workers: await this.workers.all() };
  }
}
