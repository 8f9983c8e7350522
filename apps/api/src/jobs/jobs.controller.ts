import { Enqueuer, JobReader, KindRegistry, parseOwner, type JobView, type Ticket } from '#lifecycle';
import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Needs } from '../auth/api-key.guard.js';
import { ApiProblem } from '../problem.js';
import { EnqueueBody, JobAnswer, TicketAnswer } from './jobs.schemas.js';

/** Jobs by HTTP: one is enqueued, one is read. */
@ApiTags('jobs')
@ApiBearerAuth()
@Controller('v1/jobs')
export class JobsController {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly enqueuer: Enqueuer,
    private readonly reader: JobReader,
  ) {}

  @Post()
  @Needs('enqueue')
  @ApiCreatedResponse({ standardSchema: TicketAnswer })
  enqueue(@Body({ schema: EnqueueBody }) body: EnqueueBody): Promise<Ticket> {
    const { kind, payload, owners, ...options } = body;
    return this.enqueuer.enqueue(this.kinds.get(kind), payload, {
      ...options,
      owners: owners.map(parseOwner),
    });
  }

  @Get(':id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: JobAnswer })
  async read(@Param('id') id: string): Promise<JobView & { artifacts: readonly string[] }> {
    const job = await this.reader.read(id);
    if (!job) throw new ApiProblem(404, 'NOT_FOUND', 'There is no job of that id.');
    return { ...job, artifacts: [] };
  }
}
