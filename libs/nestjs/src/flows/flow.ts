import { InvalidJobError, MooringError, type Owner } from '#core';
import type { JobRequest, JobRequests } from '../enqueue/job-requests.js';
import type { JobOrigin } from '../enqueue/job-origin.js';
import type { Kind } from '../kinds/kind.js';

/** How many jobs stand above one another in a flow, and how many there are in all. */
export const MAX_FLOW_DEPTH = 5;
export const MAX_FLOW_JOBS = 100;

/**
 * What a child that does not complete means to its parent. `fail`: the parent fails too, and does not run. `continue`: it starts at once,
 * while the other children go on. `ignore`: it starts when all have ended.
 */
export const CHILD_POLICIES = ['fail', 'continue', 'ignore'] as const;
export type ChildPolicy = (typeof CHILD_POLICIES)[number];

/** A job and those that have to end before it starts. Slot, expiry, attempts and retention are those of its kind. */
export interface Flow {
  readonly kind: Kind;
  readonly payload?: unknown;
  /** A child without owners has those of its parent. */
  readonly owners?: readonly (Owner | string)[] | undefined;
  /** Default that of its parent, and at the top `fail`. */
  readonly onChildFailure?: ChildPolicy | undefined;
  readonly children?: readonly Flow[] | undefined;
}

/** A flow that can be right. */
export interface ReadFlow extends JobRequest {
  readonly onChildFailure: ChildPolicy;
  readonly children: readonly ReadFlow[];
}

interface Inherited {
  readonly owners: Flow['owners'];
  readonly onChildFailure: ChildPolicy;
}

/** Reads a whole flow. An error names the job by its place in the tree. */
export class FlowReader {
  private count = 0;

  constructor(
    private readonly requests: JobRequests,
    private readonly origin: JobOrigin | undefined,
  ) {}

  async read(
    flow: Flow,
    parent: Inherited = { owners: undefined, onChildFailure: 'fail' },
    place = '',
    depth = 1,
  ): Promise<ReadFlow> {
    const { owners = parent.owners, onChildFailure = parent.onChildFailure } = flow;
    const request = await named(place, () => {
      this.check(flow, onChildFailure, depth);
      const dedup = { strategy: 'none' } as const;
      return this.requests.read(flow.kind, flow.payload, { owners, dedup, origin: this.origin });
    });
    const children: ReadFlow[] = [];
    for (const [i, child] of (flow.children ?? []).entries()) {
      const at = `${place && `${place}.`}children[${i}]`;
      children.push(await this.read(child, { owners: request.owners, onChildFailure }, at, depth + 1));
    }
    return { ...request, onChildFailure, children };
  }

  private check(flow: Flow, policy: ChildPolicy, depth: number): void {
    this.count += 1;
    if (depth > MAX_FLOW_DEPTH) throw new InvalidJobError(`a flow is at most ${MAX_FLOW_DEPTH} jobs deep.`);
    if (this.count > MAX_FLOW_JOBS) throw new InvalidJobError(`a flow has at most ${MAX_FLOW_JOBS} jobs.`);
    if ('dedup' in flow)
      throw new InvalidJobError('the jobs of a flow are not deduplicated: leave dedup out.');
    if (!CHILD_POLICIES.includes(policy))
      throw new InvalidJobError(`onChildFailure is one of ${CHILD_POLICIES.join(', ')}.`);
  }
}

async function named<T>(place: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (place === '' || !(error instanceof InvalidJobError)) throw error;
    throw new InvalidJobError(`${place}: ${(error as MooringError).message}`, { cause: error });
  }
}
