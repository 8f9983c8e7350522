import { InvalidJobError } from '#core';
import { Body, Delete, Get, Headers, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiHeader, ApiOkResponse } from '@nestjs/swagger';
import { z } from 'zod';
import {
  ArtifactReader,
  type EnqueueOptions,
  Enqueuer,
  type EnqueueTicket,
  JobCanceller,
  JobContents,
  JobFinder,
  type JobLines,
  type JobList,
  type JobOrigin,
  type JobPayload,
  JobMover,
  JobReader,
  JobRetrier,
  type JobView,
  KindRegistry,
  MOORING_OPTIONS,
  type MooringOptions,
  receiptOf,
  type ReceiptView,
  type RetryRequest,
  viewOfReceipt,
} from '#nestjs';
import { Audits, NotAudited } from './access/audited.js';
import { type CallerLimits, type LimitedAnswer, Limits } from './access/caller-limits.js';
import { Touches } from './access/touches.js';
import { linkTo, type ArtifactLink } from './artifact-headers.js';
import { BatchAnswer, BatchBody, EnqueueBody, JobAnswer, TicketAnswer } from './job-schemas.js';
import { JobsAnswer, JobsQuery, LogAnswer, PayloadAnswer } from './list-schemas.js';
import { DescribesQuery } from './describes-query.js';
import { PriorityBody, RetryBody } from './repair-schemas.js';
import { HTTP_PATH, MooringController, type Reply } from './mooring-controller.js';
import { ReceiptAnswer } from './owner-schemas.js';
import { TakesUpTo } from './body-limit.js';
import { idempotencyKeyOf, slotOfCallers } from './callers-keys.js';
import { describeError, notFound } from './problem.js';
import { Caller, Needs, type CalledRequest } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { JOBS } from './openapi/jobs.js';

const MAX_BATCH_BYTES = 32 * 1024 * 1024;
const NO_SUCH_JOB = 'There is no job with this id.';
const NO_CONTENTS = 'There is no job with this id, or it was removed, and its payload and log with it.';

type BatchResult = { readonly status: number } & Readonly<Record<string, unknown>>;

/** Enqueue one job or a batch; list, read, cancel and retry jobs. */
@Describes(JOBS)
@MooringController('jobs', 'jobs')
export class JobsController {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly enqueuer: Enqueuer,
    private readonly reader: JobReader,
    private readonly finder: JobFinder,
    private readonly contents: JobContents,
    private readonly artifacts: ArtifactReader,
    private readonly canceller: JobCanceller,
    private readonly retrier: JobRetrier,
    private readonly mover: JobMover,
    @Inject(MOORING_OPTIONS) private readonly settings: MooringOptions,
    @Inject(HTTP_PATH) private readonly path: string,
  ) {}

  @Post()
  @Needs('enqueue')
  @Touches('checked')
  @NotAudited()
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
    @Req() { id: requestId }: CalledRequest,
    @Limits() limits: CallerLimits,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<EnqueueTicket> {
    const ticket = await this.accept(body, limits, { requestId, caller }, idempotencyKeyOf(caller, key));
    reply.status(statusOf(ticket));
    reply.header('location', `${this.path}/v1/jobs/${ticket.id}`);
    return ticket;
  }

  @Post('batch')
  @HttpCode(200)
  @Needs('enqueue')
  @Touches('checked')
  @NotAudited()
  @TakesUpTo(MAX_BATCH_BYTES)
  @ApiOkResponse({ standardSchema: BatchAnswer })
  async enqueueBatch(
    @Body({ schema: BatchBody }) { jobs }: BatchBody,
    @Headers('idempotency-key') key: string | undefined,
    @Caller() caller: string,
    @Req() request: CalledRequest,
    @Limits() limits: CallerLimits,
  ): Promise<{ results: BatchResult[] }> {
    // Ignoring the key would enqueue every job again when the call is repeated.
    if (key !== undefined)
      throw new InvalidJobError('A batch accepts no Idempotency-Key. Send jobs that need one individually.');
    const origin = { requestId: request.id, caller };
    // At once: jobs that are added in one turn of the event loop share a step of the store.
    return { results: await Promise.all(jobs.map((job) => this.acceptOne(job, limits, origin, request))) };
  }

  @Get()
  @Needs('read')
  @Touches('checked')
  @DescribesQuery(JobsQuery)
  @ApiOkResponse({ standardSchema: JobsAnswer })
  async list(
    @Query({ schema: JobsQuery }) { cursor, limit, ...filter }: JobsQuery,
    @Limits() limits: CallerLimits,
  ): Promise<JobList & LimitedAnswer> {
    limits.checkFilter(filter);
    const list = await this.finder.find({ ...filter, within: limits.within }, { cursor, limit });
    return { ...list, ...limits.inAnswer };
  }

  @Get(':id')
  @Needs('read')
  @Touches({ job: 'id' })
  @ApiOkResponse({ standardSchema: JobAnswer })
  async read(@Param('id') id: string): Promise<JobView & { artifacts: readonly ArtifactLink[] }> {
    const job = await this.reader.read(id);
    if (!job) throw notFound(NO_SUCH_JOB);
    const made = job.state === 'removed' ? [] : await this.artifacts.list(id);
    return { ...job, artifacts: made.map((artifact) => linkTo(this.path, id, artifact)) };
  }

  @Get(':id/payload')
  @Needs('read')
  @Touches({ job: 'id' })
  @ApiOkResponse({ standardSchema: PayloadAnswer })
  async payload(@Param('id') id: string): Promise<JobPayload> {
    const payload = await this.contents.payload(id);
    if (!payload) throw notFound(NO_CONTENTS);
    return payload;
  }

  @Get(':id/log')
  @Needs('read')
  @Touches({ job: 'id' })
  @ApiOkResponse({ standardSchema: LogAnswer })
  async log(@Param('id') id: string): Promise<JobLines> {
    const lines = await this.contents.lines(id);
    if (!lines) throw notFound(NO_CONTENTS);
    return lines;
  }

  @Delete(':id')
  @Needs('cancel')
  @Touches({ job: 'id' })
  @Audits('job.cancel')
  @ApiOkResponse({ standardSchema: ReceiptAnswer })
  async cancel(@Param('id') id: string, @Caller() caller: string): Promise<ReceiptView> {
    const receipt = await receiptOf(this.canceller.cancel(id, { by: caller || 'api' }));
    if (!receipt) throw notFound(NO_SUCH_JOB);
    return viewOfReceipt(receipt, this.settings);
  }

  @Post(':id/retry')
  @HttpCode(200)
  @Needs('admin')
  @Touches({ job: 'id' })
  @Audits('job.retry', { details: ['reset'] })
  @ApiBody({ required: false })
  @ApiOkResponse({ standardSchema: JobAnswer })
  async retry(
    @Param('id') id: string,
    @Body({ schema: RetryBody }) body: RetryBody,
    @Caller() caller: string,
  ): Promise<JobView & { artifacts: readonly ArtifactLink[] }> {
    const retried = await this.retrier.retry(id, { ...body, by: caller || 'api' } as RetryRequest);
    if (!retried) throw notFound(NO_SUCH_JOB);
    return this.read(id);
  }

  @Post(':id/promote')
  @HttpCode(200)
  @Needs('admin')
  @Touches({ job: 'id' })
  @Audits('job.promote')
  @ApiOkResponse({ standardSchema: JobAnswer })
  async promote(
    @Param('id') id: string,
    @Caller() caller: string,
  ): Promise<JobView & { artifacts: readonly ArtifactLink[] }> {
    if (!(await this.mover.promote(id, caller || 'api'))) throw notFound(NO_SUCH_JOB);
    return this.read(id);
  }

  @Post(':id/priority')
  @HttpCode(200)
  @Needs('admin')
  @Touches({ job: 'id' })
  @Audits('job.set-priority', { details: ['priority'] })
  @ApiOkResponse({ standardSchema: JobAnswer })
  async setPriority(
    @Param('id') id: string,
    @Body({ schema: PriorityBody }) { priority }: PriorityBody,
    @Caller() caller: string,
  ): Promise<JobView & { artifacts: readonly ArtifactLink[] }> {
    if (!(await this.mover.setPriority(id, priority, caller || 'api'))) throw notFound(NO_SUCH_JOB);
    return this.read(id);
  }

  private async acceptOne(
    job: unknown,
    limits: CallerLimits,
    origin: JobOrigin,
    request: CalledRequest,
  ): Promise<BatchResult> {
    try {
      const read = EnqueueBody.safeParse(job);
      if (!read.success) throw new InvalidJobError(z.prettifyError(read.error));
      const ticket = await this.accept(read.data, limits, origin);
      return { status: statusOf(ticket), ...ticket };
    } catch (error) {
      const { problem, retryAfter } = describeError(error, request);
      return { ...problem, ...(retryAfter !== undefined && { retryAfter }) };
    }
  }

  private accept(
    { kind, payload, slot, ...rest }: EnqueueBody,
    limits: CallerLimits,
    origin: JobOrigin,
    idempotencyKey?: string,
  ): Promise<EnqueueTicket> {
    // First, so that a refusal tells nothing of kinds outside the limits.
    limits.checkJob({ kind, queue: this.kinds.find(kind)?.queue, owners: rest.owners });
    const options: EnqueueOptions = { ...rest, slot: slot && slotOfCallers(slot), origin, idempotencyKey };
    return this.enqueuer.enqueue(this.kinds.offered(kind), payload, options);
  }
}

function statusOf({ outcome }: EnqueueTicket): number {
  return outcome === 'created' || outcome === 'replaced' ? 201 : 200;
}
