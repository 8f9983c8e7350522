import { Body, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Operations, type OperationFilter, type OperationView } from '#nestjs';
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
  @ApiAcceptedResponse({ standardSchema: OperationAsked })
  async start(
    @Body({ schema: OperationBody }) { action, filter, dryRun = false }: OperationBody,
    @Caller() caller: string,
    @Req() request: CalledRequest,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<OperationAsked> {
    // The guard has checked `admin` already.
    if (action === 'cancel' && request.scopes && !request.scopes.has('cancel'))
      throw new ApiProblem(403, 'FORBIDDEN', `The key "${caller}" lacks the scope "cancel".`);
    const order = { action, filter: filter as OperationFilter, dryRun, by: caller || 'api' };
    const { operationId } = await this.operations.start(order);
    reply.header('location', `${this.path}/v1/operations/${operationId}`);
    return { operationId };
  }

  @Get()
  @Needs('admin')
  @ApiOkResponse({ standardSchema: OperationsAnswer })
  async list(@Query('cursor', { schema: Offset }) cursor = '0'): Promise<object> {
    const { operations, next } = await this.operations.list(Number(cursor));
    return { operations, cursor: next === null ? null : String(next) };
  }

  @Get(':operationId')
  @Needs('admin')
  @ApiOkResponse({ standardSchema: OperationAnswer })
  async read(@Param('operationId') operationId: string): Promise<OperationView> {
    const operation = await this.operations.get(operationId);
    if (!operation) throw notFound(NO_SUCH_OPERATION);
    return operation;
  }

  @Delete(':operationId')
  @Needs('admin')
  @ApiOkResponse({ standardSchema: OperationAnswer, description: 'It stops after the page that it is at.' })
  async stop(@Param('operationId') operationId: string, @Caller() caller: string): Promise<OperationView> {
    const operation = await this.operations.stop(operationId, caller || 'api');
    if (!operation) throw notFound(NO_SUCH_OPERATION);
    return operation;
  }
}
