import { InvalidJobError } from '#core';
import { Body, Get, Headers, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { z } from 'zod';
import { FlowAnswer, Work } from './job-schemas.js';
import { FlowTreeAnswer } from './list-schemas.js';
import { notFound } from './problem.js';
import { HTTP_PATH, MooringController, type Reply } from './mooring-controller.js';
import {
  CHILD_POLICIES,
  type Flow,
  type FlowTree,
  FlowTrees,
  Flows,
  KindRegistry,
  MAX_FLOW_DEPTH,
  MAX_FLOW_JOBS,
} from '#nestjs';
import { Caller, Needs, type CalledRequest } from './scopes.js';
import { Describes } from './openapi/describes.js';
import { FLOWS } from './openapi/flows-and-schedules.js';

/** One job of a flow. Children are validated level by level, so that depth is limited before a deep tree is read. */
const FlowBody = z
  .strictObject({
    kind: Work.kind,
    owners: Work.owners.optional().describe('A child without owners has those of its parent.'),
    payload: Work.payload,
    onChildFailure: z
      .enum(CHILD_POLICIES)
      .optional()
      .describe(
        'What happens to this job if a child does not complete. Inherited from the parent; default fail.',
      ),
    children: z
      .array(z.unknown())
      .max(MAX_FLOW_JOBS)
      .optional()
      .describe(`Jobs of the same shape, at most ${MAX_FLOW_DEPTH} deep and ${MAX_FLOW_JOBS} in all.`),
  })
  .meta({ id: 'Flow' });
type FlowBody = z.output<typeof FlowBody>;

/** Enqueue and read flows: trees of jobs in which each job waits for its children. */
@Describes(FLOWS)
@MooringController('flows', 'flows')
export class FlowsController {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly flows: Flows,
    private readonly trees: FlowTrees,
    @Inject(HTTP_PATH) private readonly path: string,
  ) {}

  @Post()
  @Needs('enqueue')
  @ApiCreatedResponse({ standardSchema: FlowAnswer })
  async add(
    @Body({ schema: FlowBody }) body: FlowBody,
    @Headers('idempotency-key') key: string | undefined,
    @Caller() caller: string,
    @Req() { id: requestId }: CalledRequest,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<{ readonly id: string }> {
    // Ignoring the key would enqueue a second flow when the call is repeated.
    if (key !== undefined) throw new InvalidJobError('A flow accepts no Idempotency-Key.');
    const ticket = await this.flows.add(this.read(body, '', 1), { requestId, caller });
    reply.header('location', `${this.path}/v1/jobs/${ticket.id}`);
    return ticket;
  }

  @Get(':jobId')
  @Needs('read')
  @ApiOkResponse({ standardSchema: FlowTreeAnswer })
  async tree(@Param('jobId') jobId: string): Promise<FlowTree> {
    const tree = await this.trees.read(jobId);
    if (!tree) throw notFound('There is no job with this id.');
    return tree;
  }

  /** @param place where in the tree, as in `children[0].children[2]` */
  private read({ kind, children = [], ...rest }: FlowBody, place: string, depth: number): Flow {
    const readChild = (child: unknown, i: number): Flow => {
      const at = `${place && `${place}.`}children[${i}]`;
      if (depth === MAX_FLOW_DEPTH)
        throw new InvalidJobError(`${at}: a flow is at most ${MAX_FLOW_DEPTH} jobs deep.`);
      const read = FlowBody.safeParse(child);
      if (!read.success) throw new InvalidJobError(`${at}: ${z.prettifyError(read.error)}`);
      return this.read(read.data, at, depth + 1);
    };
    return { ...rest, kind: this.kinds.offered(kind), children: children.map(readChild) };
  }
}
