import { Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { LoadReader, type QueueLoad } from '#nestjs';
import { DescribesQuery } from './describes-query.js';
import { LoadAnswer, LoadQuery } from './load-schemas.js';
import { MooringController } from './mooring-controller.js';
import { Needs } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { LOAD } from './openapi/fleet.js';

/** How much work there is: one number for an autoscaler. */
@Describes(LOAD)
@MooringController('load', 'fleet')
export class LoadController {
  constructor(private readonly reader: LoadReader) {}

  @Get()
  @Needs('read')
  @DescribesQuery(LoadQuery)
  @ApiOkResponse({ standardSchema: LoadAnswer })
  async read(@Query({ schema: LoadQuery }) { kinds }: LoadQuery): Promise<LoadAnswer> {
    const queues = await (kinds === undefined
      ? this.reader.all()
      : this.reader.ofKinds(kinds.split(',').map((kind) => kind.trim())));
    return {
      load: sum(queues, 'load'),
      waiting: sum(queues, 'waiting'),
      running: sum(queues, 'running'),
      queues,
    };
  }
}

function sum(queues: readonly QueueLoad[], field: 'load' | 'waiting' | 'running'): number {
  return queues.reduce((total, queue) => total + queue[field], 0);
}
