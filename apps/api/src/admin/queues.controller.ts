import { Audit } from '#http';
import { QueueReader, type QueueView } from '#lifecycle';
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, Needs } from '../auth/api-key.guard.js';
import { ApiProblem } from '../problem.js';
import { PausedAnswer, QueuesAnswer } from './queues-schemas.js';

/** Read, pause and resume queues. */
@ApiTags('admin')
@ApiBearerAuth()
@Controller('v1/admin/queues')
export class QueuesController {
  constructor(
    private readonly reader: QueueReader,
    private readonly audit: Audit,
  ) {}

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: QueuesAnswer })
  async read(): Promise<{ queues: QueueView[] }> {
    return { queues: await this.reader.read() };
  }

  @Post(':queue/pause')
  @HttpCode(200)
  @Needs('admin')
  @ApiOkResponse({ standardSchema: PausedAnswer })
  async pause(@Param('queue') queue: string, @Caller() caller: string): Promise<PausedAnswer> {
    if (!(await this.reader.pause(queue))) throw unknownQueue();
    this.audit.record(caller, { event: 'queue.paused', queue });
    return { queue, paused: true };
  }

  @Post(':queue/resume')
  @HttpCode(200)
  @Needs('admin')
  @ApiOkResponse({ standardSchema: PausedAnswer })
  async resume(@Param('queue') queue: string, @Caller() caller: string): Promise<PausedAnswer> {
    if (!(await this.reader.resume(queue))) throw unknownQueue();
    this.audit.record(caller, { event: 'queue.resumed', queue });
    return { queue, paused: false };
  }
}

function unknownQueue(): ApiProblem {
  return new ApiProblem(
    404,
    'NOT_FOUND',
    'There is no queue with this name. GET /v1/admin/queues lists all queues.',
  );
}
