import type { FlowJob, FlowOpts, JobNode } from 'bullmq';
import { MooredFlowProducer, type MooredFlowOptions } from '../flow/moored-flow-producer.js';
import { InvalidJobError } from '../model/errors.js';
import { partitionsOf, type Partition, type PartitionOptions } from '../model/partitions.js';
import { checkSlot, jobIdIn, partitionNamedBy, placeOf } from './job-place.js';

export interface PartitionedFlowOptions extends MooredFlowOptions, PartitionOptions {
  readonly prefix?: string;
}

type Sought = Parameters<MooredFlowProducer['getFlow']>[0];

/** A flow producer over all partitions. A whole flow is in the partition of the first owner of its root. */
export class PartitionedFlowProducer extends MooredFlowProducer {
  private readonly partitions: readonly Partition[];
  private readonly others: readonly MooredFlowProducer[];

  constructor({ partitions, ...opts }: PartitionedFlowOptions) {
    const all = partitionsOf({ ...opts, ...(partitions !== undefined && { partitions }) });
    const optsOf = (partition: Partition) => ({ ...opts, prefix: partition.root, partition });
    super(optsOf(all[0]!));
    this.partitions = all;
    this.others = all.slice(1).map((partition) => new MooredFlowProducer(optsOf(partition)));
    for (const other of this.others) other.on('error', (error: Error) => this.emit('error', error));
  }

  override async add(flow: FlowJob, opts?: FlowOpts): Promise<JobNode> {
    if (this.others.length === 0) return super.add(flow, opts);
    const { at, placed } = this.place(flow);
    return at === 0 ? super.add(placed, opts) : this.others[at - 1]!.add(placed, opts);
  }

  /** One step a partition; the answers come in the order of the flows. */
  override async addBulk(flows: FlowJob[]): Promise<JobNode[]> {
    if (this.others.length === 0) return super.addBulk(flows);
    const places = flows.map((flow) => this.place(flow));
    const answers: JobNode[] = [];
    await Promise.all(
      this.partitions.map(async ({ at }) => {
        const own = places.flatMap((place, i) => (place.at === at ? [{ ...place, i }] : []));
        if (own.length === 0) return;
        const placed = own.map((each) => each.placed);
        const added = await (at === 0 ? super.addBulk(placed) : this.others[at - 1]!.addBulk(placed));
        for (const [n, { i }] of own.entries()) answers[i] = added[n]!;
      }),
    );
    return answers;
  }

  override async getFlow(sought: Sought): Promise<JobNode> {
    if (this.others.length === 0 || sought.prefix !== undefined) return super.getFlow(sought);
    const named = partitionNamedBy(sought.id);
    if (named) return this.others[named - 1]?.getFlow(sought) as Promise<JobNode>;
    const found = await super.getFlow(sought);
    if (found || named === 0) return found;
    const all = await Promise.all(this.others.map((other) => other.getFlow(sought)));
    return all.find((flow) => flow) as JobNode;
  }

  override async waitUntilReady(): ReturnType<MooredFlowProducer['waitUntilReady']> {
    await Promise.all([super.waitUntilReady(), ...this.others.map((other) => other.waitUntilReady())]);
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), ...this.others.map((other) => other.close())]);
  }

  override async disconnect(): Promise<void> {
    await Promise.all([super.disconnect(), ...this.others.map((other) => other.disconnect())]);
  }

  private place(flow: FlowJob): { at: number; placed: FlowJob } {
    const at = placeOf(flow.opts ?? {}, this.partitions);
    return { at, placed: placedIn(flow, at, this.partitions.length) };
  }
}

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
