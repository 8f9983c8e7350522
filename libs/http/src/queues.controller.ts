import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Journal, QueueReader, type QueueView } from '#nestjs';
import { Audits } from './access/audited.js';
import { type CallerLimits, type LimitedAnswer, Limits } from './access/caller-limits.js';
import { Touches } from './access/touches.js';
import { PausedAnswer, QueuesAnswer } from './admin-schemas.js';
import { MooringController } from './mooring-controller.js';
import { notFound } from './problem.js';
import { Caller, Needs } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { QUEUES } from './openapi/admin.js';

const NO_SUCH_QUEUE = 'There is no queue with this name. GET /v1/admin/queues lists all queues.';

/** Read, pause and resume queues. */
@Describes(QUEUES)
@MooringController('admin/queues', 'admin')
export class QueuesController {
  constructor(
    private readonly reader: QueueReader,
    private readonly journal: Journal,
  ) {}

  @Get()
  @Needs('admin')
  @Touches('checked')
  @ApiOkResponse({ standardSchema: QueuesAnswer })
  async read(@Limits() limits: CallerLimits): Promise<{ queues: QueueView[] } & LimitedAnswer> {
    limits.checkWholeQueues();
    const queues = (await this.reader.read()).filter(({ queue }) => limits.admitsQueue(queue));
    return { queues, ...limits.inAnswer };
  }

  @Post(':queue/pause')
  @HttpCode(200)
  @Needs('admin')
  @Touches('checked')
  @Audits('queue.pause', { on: ['queue'] })
  @ApiOkResponse({ standardSchema: PausedAnswer })
  async pause(
    @Param('queue') queue: string,
    @Caller() caller: string,
    @Limits() limits: CallerLimits,
  ): Promise<PausedAnswer> {
    limits.checkWholeQueues(queue);
    if (!(await this.reader.pause(queue))) throw notFound(NO_SUCH_QUEUE);
    this.journal.tell({ event: 'queue.paused', by: caller || 'api', queue });
    return { queue, paused: true };
  }

  @Post(':queue/resume')
  @HttpCode(200)
  @Needs('admin')
  @Touches('checked')
  @Audits('queue.resume', { on: ['queue'] })
  @ApiOkResponse({ standardSchema: PausedAnswer })
  async resume(
    @Param('queue') queue: string,
    @Caller() caller: string,
    @Limits() limits: CallerLimits,
  ): Promise<PausedAnswer> {
    limits.checkWholeQueues(queue);
    if (!(await this.reader.resume(queue))) throw notFound(NO_SUCH_QUEUE);
    this.journal.tell({ event: 'queue.resumed', by: caller || 'api', queue });
    return { queue, paused: false };
  }
}
