import type { FlowJob, FlowOpts, JobNode } from 'bullmq';
import { InvalidJobError, MooredFlowProducer, type MooredFlowOptions } from '#core';
import { askAll } from '../model/ask-all.js';
import { inEachPart, type Placed } from '../model/in-each-part.js';
import { checkSlot, jobIdIn, partitionNamedBy, placeOf } from '../model/job-place.js';
import { nothing } from '../model/merges.js';
import { optionsOfEach, type PartitionOptions } from '../model/partitions.js';

export type PartitionedFlowOptions = MooredFlowOptions & PartitionOptions;

type Sought = Parameters<MooredFlowProducer['getFlow']>[0];

/** What the flow producer of one partition does. */
const plain = MooredFlowProducer.prototype;

/** A flow producer over all partitions. A whole flow is in the partition of the first owner of its root. */
export class PartitionedFlowProducer extends MooredFlowProducer {
  private readonly prefixes: readonly string[];
  readonly parts: readonly MooredFlowProducer[];

  constructor(options: PartitionedFlowOptions) {
    const [own, ...others] = optionsOfEach(options);
    super(own);
    this.prefixes = [own!, ...others].map(({ prefix }) => prefix);
    this.parts = [this, ...others.map((opts) => new MooredFlowProducer(opts))];
    for (const other of this.parts.slice(1)) other.on('error', (error: Error) => this.emit('error', error));
  }

  override async add(flow: FlowJob, opts?: FlowOpts): Promise<JobNode> {
    const { at, job } = this.place(flow);
    return plain.add.call(this.parts[at]!, job, opts);
  }

  /** One step a partition. */
  override async addBulk(flows: FlowJob[]): Promise<JobNode[]> {
    const places = flows.map((flow) => this.place(flow));
    return inEachPart(this.parts, places, (producer, own) => plain.addBulk.call(producer, own));
  }

  override async getFlow(sought: Sought): Promise<JobNode> {
    if (this.parts.length === 1 || sought.prefix !== undefined) return super.getFlow(sought);
    const named = partitionNamedBy(sought.id);
    const asked = named === undefined ? this.parts : this.parts.slice(named, named + 1);
    const all = await Promise.all(asked.map((producer) => plain.getFlow.call(producer, sought)));
    return all.find((flow) => flow) as JobNode;
  }

  private place(flow: FlowJob): Placed<FlowJob> {
    if (this.parts.length === 1) return { at: 0, job: flow };
    const at = placeOf(flow.opts ?? {}, this.prefixes);
    return { at, job: placedIn(flow, at, this.prefixes.length) };
  }
}

askAll<MooredFlowProducer>(PartitionedFlowProducer, {
  waitUntilReady: nothing,
  close: nothing,
  disconnect: nothing,
});

/** The flow with ids that name its partition. */
function placedIn(node: FlowJob, at: number, of: number): FlowJob {
  if (node.prefix !== undefined)
    throw new InvalidJobError('A job of a flow has no prefix of its own where there are several partitions.');
  checkSlot(node.opts ?? {}, at, of);
  return {
    ...node,
    opts: { ...node.opts, jobId: jobIdIn(at, node.opts?.jobId) },
    ...(node.children && { children: node.children.map((child) => placedIn(child, at, of)) }),
  };
}
