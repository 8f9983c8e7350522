import { Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { KindList, type KindView, WorkerList, type WorkerView } from '#nestjs';
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
  @ApiOkResponse({ standardSchema: KindsAnswer })
  list(@Query({ schema: NoQuery }) _query: unknown): { kinds: KindView[] } {
    return { kinds: this.kinds.all() };
  }
}

/** List the processes that take jobs. */
@Describes(WORKERS)
@MooringController('workers', 'fleet')
export class WorkersController {
  constructor(private readonly workers: WorkerList) {}

  @Get()
  @Needs('read')
  @ApiOkResponse({ standardSchema: WorkersAnswer })
  async list(@Query({ schema: NoQuery }) _query: unknown): Promise<{ workers: WorkerView[] }> {
    return { workers: await this.workers.all() };
  }
}
