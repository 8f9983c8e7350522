import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { readChildren, type ChildOutcome } from '../flows/children.js';
import { MAX_FLOW_JOBS } from '../flows/flow.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import { JobReader } from '../read/job-reader.js';
import type { JobView } from '../read/job-view.js';
import type { BriefJob } from './listed-job.js';

/** A job of a flow, and those below it. */
export interface FlowNode extends BriefJob {
  readonly children: readonly FlowNode[];
}

export interface FlowTree extends FlowNode {
  /** The job that waits for this one; null at the top of a flow. */
  readonly parent: string | null;
}

/** Reads flows from one of their jobs down. Of a job that was removed, the jobs below it are not known. */
@Injectable()
export class FlowTrees {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly jobs: JobReader,
  ) {}

  /** Undefined if nothing is known of the id. */
  async read(id: string): Promise<FlowTree | undefined> {
    const view = await this.jobs.read(id);
    if (!view) return undefined;
    const job = await this.find(id);
    const left = { jobs: MAX_FLOW_JOBS };
    return { ...nodeOf(view, job ? await this.below(job, left) : []), parent: job?.parent?.id ?? null };
  }

  /** @param left how many more jobs the tree may have */
  private async below(job: Job, left: { jobs: number }): Promise<FlowNode[]> {
    const children = (await readChildren(job)).slice(0, left.jobs);
    left.jobs -= children.length;
    const nodes: FlowNode[] = [];
    for (const child of children) nodes.push(await this.childNode(child, left));
    return nodes;
  }

  private async childNode(child: ChildOutcome, left: { jobs: number }): Promise<FlowNode> {
    const [view, job] = await Promise.all([this.jobs.read(child.id), this.find(child.id)]);
    if (!view) return forgotten(child, this.queues.ofJob(child.id)?.name ?? '');
    return nodeOf(view, job ? await this.below(job, left) : []);
  }

  private async find(id: string): Promise<Job | undefined> {
    return (await this.queues.ofJob(id)?.getJob(id)) as Job | undefined;
  }
}

function nodeOf({ id, kind, queue, owners, state, error }: JobView, children: readonly FlowNode[]): FlowNode {
  return { id, kind, queue, owners, state, error, children };
}

/** Its parent still knows how it ended. */
function forgotten(child: ChildOutcome, queue: string): FlowNode {
  const { id, kind } = child;
  const state = child.state === 'pending' ? 'removed' : child.state;
  return { id, kind, queue, owners: [], state, error: 'error' in child ? child.error : null, children: [] };
}
