import { Body, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse } from '@nestjs/swagger';
import { covers, Operations, type OperationFilter, type OperationView } from '#nestjs';
import { Audits } from './access/audited.js';
import { type CallerLimits, type LimitedAnswer, Limits } from './access/caller-limits.js';
import { Touches } from './access/touches.js';
import { Offset } from './fields.js';
import { HTTP_PATH, MooringController, type Reply } from './mooring-controller.js';
import { ApiProblem, notFound } from './problem.js';
import { OperationAnswer, OperationAsked, OperationBody, OperationsAnswer } from './repair-schemas.js';
import { Caller, Needs, type CalledRequest } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { OPERATIONS } from './openapi/operations.js';

const NO_SUCH_OPERATION =
  'There is no operation with this id, or its record has expired: the last 200 are kept for 7 days.';

/** Retry, cancel or remove many jobs in the background; list, read and stop these operations. */
@Describes(OPERATIONS)
@MooringController('operations', 'operations')
export class OperationsController {
  constructor(
    private readonly operations: Operations,
    @Inject(HTTP_PATH) private readonly path: string,
  ) {}

  @Post()
  @HttpCode(202)
  @Needs('admin')
  @Touches('checked')
  @Audits('operation.start', {
    made: ({ operationId }: OperationAsked) => operationId,
    details: ['action', 'filter', 'dryRun'],
  })
  @ApiAcceptedResponse({ standardSchema: OperationAsked })
  async start(
    @Body({ schema: OperationBody }) { action, filter, dryRun = false }: OperationBody,
    @Caller() caller: string,
    @Req() request: CalledRequest,
    @Limits() limits: CallerLimits,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<OperationAsked> {
    // The guard has checked `admin` already.
    if (action === 'cancel' && request.scopes && !request.scopes.has('cancel'))
      throw new ApiProblem(403, 'FORBIDDEN', `The key "${caller}" lacks the scope "cancel".`);
    limits.checkFilter(filter);
    const limitedTo = limits.within;
    const order = { action, filter: filter as OperationFilter, dryRun, by: caller || 'api', limitedTo };
    const { operationId } = await this.operations.start(order);
    reply.header('location', `${this.path}/v1/operations/${operationId}`);
    return { operationId };
  }

  @Get()
  @Needs('admin')
  @Touches('checked')
  @ApiOkResponse({ standardSchema: OperationsAnswer })
  async list(
    @Limits() limits: CallerLimits,
    @Query('cursor', { schema: Offset }) cursor = '0',
  ): Promise<{ operations: OperationView[]; cursor: string | null } & LimitedAnswer> {
    const { operations, next } = await this.operations.list(Number(cursor));
    return {
      operations: operations.filter((each) => isFor(limits, each)),
      cursor: next === null ? null : String(next),
      ...limits.inAnswer,
    };
  }

  @Get(':operationId')
  @Needs('admin')
  @Touches('checked')
  @ApiOkResponse({ standardSchema: OperationAnswer })
  async read(
    @Param('operationId') operationId: string,
    @Limits() limits: CallerLimits,
  ): Promise<OperationView> {
    const operation = await this.operations.get(operationId);
    if (!operation || !isFor(limits, operation)) throw notFound(NO_SUCH_OPERATION);
    return operation;
  }

  @Delete(':operationId')
  @Needs('admin')
  @Touches('checked')
  @Audits('operation.stop', { on: ['operationId'] })
  @ApiOkResponse({ standardSchema: OperationAnswer, description: 'It stops after the page that it is at.' })
  async stop(
    @Param('operationId') operationId: string,
    @Caller() caller: string,
    @Limits() limits: CallerLimits,
  ): Promise<OperationView> {
    await this.read(operationId, limits);
    const operation = await this.operations.stop(operationId, caller || 'api');
    if (!operation) throw notFound(NO_SUCH_OPERATION);
    return operation;
  }
}

/** A caller with limits has the operations of callers whose limits are the same or narrower. */
function isFor({ within }: CallerLimits, { limitedTo = {} }: OperationView): boolean {
  return within === undefined || covers(within, limitedTo);
}
