import { TakesUpTo } from '#http';
import {
  ArtifactReader,
  Canceller,
  Enqueuer,
  InvalidJobError,
  JobReader,
  KindRegistry,
  parseOwner,
  type JobView,
  type Receipt,
  type Ticket,
} from '#lifecycle';
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Caller, Needs } from '../auth/api-key.guard.js';
import { ReceiptAnswer } from '../cancellations/cancellations-schemas.js';
import { describeError } from '../error.filter.js';
import { ApiProblem } from '../problem.js';
import { linkTo, type ArtifactLink } from './artifact-headers.js';
import { BatchSemaphore } from './batch-semaphore.js';
import { BatchAnswer, BatchBody, EnqueueBody, JobAnswer, TicketAnswer } from './jobs-schemas.js';

const MAX_BATCH_BYTES = 32 * 1024 * 1024;

type BatchResult = { readonly status: number } & Readonly<Record<string, unknown>>;

/** Enqueue one job or a batch; read and cancel a job. */
@ApiTags('jobs')
@ApiBearerAuth()
@Controller('v1/jobs')
export class JobsController {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly enqueuer: Enqueuer,
    private readonly reader: JobReader,
    private readonly artifacts: ArtifactReader,
    private readonly canceller: Canceller,
    private readonly semaphore: BatchSemaphore,
  ) {}

  @Post()
  @Needs('enqueue')
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'Repeating a call with the same key returns the same answer.',
  })
  @ApiCreatedResponse({ standardSchema: TicketAnswer })
  @ApiOkResponse({ standardSchema: TicketAnswer, description: 'A duplicate job is already pending.' })
  async enqueue(
    @Body({ schema: EnqueueBody }) body: EnqueueBody,
    @Headers('idempotency-key') key: string | undefined,
    @Caller() caller: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Ticket> {
    if (key === '') throw new InvalidJobError('The Idempotency-Key is empty.');
    // The caller's name keeps keys of different callers apart.
    const ticket = await this.accept(body, key === undefined ? undefined : `${caller}\0${key}`);
    reply.status(statusOf(ticket)).header('location', `/v1/jobs/${ticket.id}`);
    return ticket;
  }

  @Post('batch')
  @HttpCode(200)
  @Needs('enqueue')
  @TakesUpTo(MAX_BATCH_BYTES)
  @ApiOkResponse({ standardSchema: BatchAnswer })
  async enqueueBatch(
    @Body({ schema: BatchBody }) { jobs }: BatchBody,
    @Headers('idempotency-key') key: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<{ results: BatchResult[] }> {
    // Ignoring the key would enqueue every job again when the call is repeated.
    if (key !== undefined)
      throw new InvalidJobError('A batch accepts no Idempotency-Key. Send jobs that need one individually.');
    // Concurrent, because commands issued in one turn of the event loop share a pipeline.
    return { results: await Promise.all(jobs.map((job) => this.acceptOne(job, request))) };
  }

  @Get(':id')
  @Needs('read')
  @ApiOkResponse({ standardSchema: JobAnswer })
  async read(@Param('id') id: string): Promise<JobView & { artifacts: readonly ArtifactLink[] }> {
    const job = await this.reader.read(id);
    if (!job) throw new ApiProblem(404, 'NOT_FOUND', 'There is no job with this id.');
    const made = job.state === 'removed' ? [] : await this.artifacts.list(id);
    return { ...job, artifacts: made.map((artifact) => linkTo(id, artifact)) };
  }

  @Delete(':id')
  @Needs('cancel')
  @ApiOkResponse({ standardSchema: ReceiptAnswer })
  async cancel(@Param('id') id: string, @Caller() caller: string): Promise<Receipt> {
    const receipt = await this.canceller.cancelJob(id, { by: caller || 'api' });
    if (!receipt) throw new ApiProblem(404, 'NOT_FOUND', 'There is no job with this id.');
    return receipt;
  }

  private async acceptOne(job: unknown, request: FastifyRequest): Promise<BatchResult> {
    try {
      const read = EnqueueBody.safeParse(job);
      if (!read.success) throw new InvalidJobError(z.prettifyError(read.error));
      const ticket = await this.semaphore.run(() => this.accept(read.data));
      return { status: statusOf(ticket), ...ticket };
    } catch (error) {
      const { problem, retryAfter } = describeError(error, request);
      return { ...problem, ...(retryAfter !== undefined && { retryAfter }) };
    }
  }

  private async accept(
    { kind: name, payload, owners: texts, slot, ...options }: EnqueueBody,
    idempotencyKey?: string,
  ): Promise<Ticket> {
    const kind = this.kinds.offered(name);
    const owners = texts.map(parseOwner);
    const own = slot && ({ ...slot, space: 'callers' } as const);
    return this.enqueuer.enqueue(kind, payload, { ...options, owners, slot: own, idempotencyKey });
  }
}

function statusOf({ outcome }: Ticket): number {
  return outcome === 'created' || outcome === 'replaced' ? 201 : 200;
}
