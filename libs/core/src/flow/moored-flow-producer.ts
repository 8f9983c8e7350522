import {
  FlowProducer,
  type FlowJob,
  type FlowOpts,
  type JobNode,
  type KeyPrefixOptions,
  type QueueBaseOptions,
} from 'bullmq';
import { createMooredBackend } from '../backend/create-backend.js';
import type { DurableOptions } from '../backend/durable-writes.js';
import type { JobLimits } from '../model/job-limits.js';
import type { OwnedJobOptions } from '../model/job-options.js';

export interface MooredFlowOptions extends QueueBaseOptions, KeyPrefixOptions, DurableOptions {
  readonly limits?: JobLimits;
}

/** BullMQ's flow producer. A flow with owners is added in one step, all of it or nothing. */
export class MooredFlowProducer extends FlowProducer {
  constructor(opts?: MooredFlowOptions) {
    super(opts as MooredFlowOptions, createMooredBackend);
  }

  override add(flow: FlowJob, opts?: FlowOpts): Promise<JobNode> {
    return super.add(inherit(flow), opts);
  }

  override addBulk(flows: FlowJob[]): Promise<JobNode[]> {
    return super.addBulk(flows.map((flow) => inherit(flow)));
  }
}

/** A child without owners has those of its parent. */
function inherit(node: FlowJob, above?: OwnedJobOptions['owners']): FlowJob {
  const owners = node.opts?.owners ?? above;
  return {
    ...node,
    ...(owners && { opts: { ...node.opts, owners } }),
    ...(node.children && { children: node.children.map((child) => inherit(child, owners)) }),
  };
}
