import { Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { LoadReader, type QueueLoad } from '#nestjs';
import { type CallerLimits, type LimitedAnswer, Limits } from './access/caller-limits.js';
import { Touches } from './access/touches.js';
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
  @Touches('checked')
  @DescribesQuery(LoadQuery)
  @ApiOkResponse({ standardSchema: LoadAnswer })
  async read(
    @Query({ schema: LoadQuery }) { kinds }: LoadQuery,
    @Limits() limits: CallerLimits,
  ): Promise<Omit<LoadAnswer, 'limitedTo'> & LimitedAnswer> {
    limits.checkWholeQueues();
    const all = await (kinds === undefined
      ? this.reader.all()
      : this.reader.ofKinds(kinds.split(',').map((kind) => kind.trim())));
    const queues = all.filter(({ queue }) => limits.admitsQueue(queue));
    return {
      load: sum(queues, 'load'),
      waiting: sum(queues, 'waiting'),
      running: sum(queues, 'running'),
      queues,
      ...limits.inAnswer,
    };
  }
}

function sum(queues: readonly QueueLoad[], field: 'load' | 'waiting' | 'running'): number {
  return queues.reduce((total, queue) => total + queue[field], 0);
}
