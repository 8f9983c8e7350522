import { InvalidJobError } from '#core';
import { Body, Get, Headers, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { z } from 'zod';
import { type CallerLimits, type LimitedAnswer, Limits } from './access/caller-limits.js';
import { NotAudited } from './access/audited.js';
import { Touches } from './access/touches.js';
import { FlowAnswer, Work } from './job-schemas.js';
import { FlowTreeAnswer } from './list-schemas.js';
import { notFound } from './problem.js';
import { HTTP_PATH, MooringController, type Reply } from './mooring-controller.js';
import {
  CHILD_POLICIES,
  type Flow,
  type FlowNode,
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
  @Touches('checked')
  @NotAudited()
  @ApiCreatedResponse({ standardSchema: FlowAnswer })
  async add(
    @Body({ schema: FlowBody }) body: FlowBody,
    @Headers('idempotency-key') key: string | undefined,
    @Caller() caller: string,
    @Req() { id: requestId }: CalledRequest,
    @Limits() limits: CallerLimits,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<{ readonly id: string }> {
    // Ignoring the key would enqueue a second flow when the call is repeated.
    if (key !== undefined) throw new InvalidJobError('A flow accepts no Idempotency-Key.');
    // The kind would name owners of any type.
    if (limits.within?.ownerTypes && !body.owners)
      throw new InvalidJobError('owners: a key that is limited to owner types has to name them.');
    const ticket = await this.flows.add(this.read(body, limits), { requestId, caller });
    reply.header('location', `${this.path}/v1/jobs/${ticket.id}`);
    return ticket;
  }

  @Get(':jobId')
  @Needs('read')
  @Touches('checked')
  @ApiOkResponse({ standardSchema: FlowTreeAnswer })
  async tree(
    @Param('jobId') jobId: string,
    @Limits() limits: CallerLimits,
  ): Promise<FlowTree & LimitedAnswer> {
    const tree = await this.trees.read(jobId);
    if (!tree || !limits.admits(tree)) throw notFound('There is no job with this id.');
    if (!limits.within) return tree;
    const parent = tree.parent === null ? undefined : await this.trees.read(tree.parent);
    const hasParent = parent !== undefined && limits.admits(parent);
    return { ...cut(tree, limits), parent: hasParent ? tree.parent : null, ...limits.inAnswer };
  }

  /** @param place where in the tree, as in `children[0].children[2]` */
  private read(
    { kind, children = [], ...rest }: FlowBody,
    limits: CallerLimits,
    place = '',
    depth = 1,
  ): Flow {
    limits.checkJob({ kind, queue: this.kinds.find(kind)?.queue, owners: rest.owners ?? [] });
    const readChild = (child: unknown, i: number): Flow => {
      const at = `${place && `${place}.`}children[${i}]`;
      if (depth === MAX_FLOW_DEPTH)
        throw new InvalidJobError(`${at}: a flow is at most ${MAX_FLOW_DEPTH} jobs deep.`);
      const read = FlowBody.safeParse(child);
      if (!read.success) throw new InvalidJobError(`${at}: ${z.prettifyError(read.error)}`);
      return this.read(read.data, limits, at, depth + 1);
    };
    return { ...rest, kind: this.kinds.offered(kind), children: children.map(readChild) };
  }
}

/** Without the jobs outside the limits, and what is below them. */
function cut<N extends FlowNode>(node: N, limits: CallerLimits): N {
  const children = node.children.filter((child) => limits.admits(child));
  return { ...node, children: children.map((child) => cut(child, limits)) };
}
