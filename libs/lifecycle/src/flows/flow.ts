import { InvalidJobError } from '../errors.js';
import { readRequest, type JobRequest } from '../enqueue/request.js';
import { CHILD_POLICIES, type ChildPolicy } from '../kinds/envelope.js';
import { newJobId } from '../kinds/ids.js';
import type { Kind } from '../kinds/kind.js';
import type { Owner } from '../kinds/owner.js';

/** How many jobs stand above one another in a flow, and how many there are in all. */
export const MAX_FLOW_DEPTH = 5;
export const MAX_FLOW_JOBS = 100;

/** A job and those that have to end before it starts. Slot, expiry, attempts and retention are its kind's. */
export interface Flow {
  readonly kind: Kind;
  readonly payload?: unknown;
  /** A child without owners has its parent's. */
  readonly owners?: readonly Owner[] | undefined;
  /** What a child that does not complete means to this job. Default its parent's, and at the top `fail`. */
  readonly onChildFailure?: ChildPolicy | undefined;
  readonly children?: readonly Flow[] | undefined;
}

/** A job of a flow that makes sense, under the id that it will have. */
export interface FlowJob {
  readonly id: string;
  readonly request: JobRequest;
  readonly onChildFailure: ChildPolicy;
  readonly children: readonly FlowJob[];
}

interface Inherited {
  readonly owners: readonly Owner[];
  readonly onChildFailure: ChildPolicy;
}

/** Reads a whole flow; throws when one of its jobs makes no sense, naming it by its place in the tree. */
export function readFlow(flow: Flow, maxBytes: number): FlowJob {
  let count = 0;
  const read = (node: Flow, parent: Inherited, place: string, depth: number): FlowJob => {
    const at = (what: string): string => (place === '' ? what : `${place}: ${what}`);
    count += 1;
    if (depth > MAX_FLOW_DEPTH)
      throw new InvalidJobError(at(`a flow is at most ${MAX_FLOW_DEPTH} jobs deep.`));
    if (count > MAX_FLOW_JOBS) throw new InvalidJobError(at(`a flow has at most ${MAX_FLOW_JOBS} jobs.`));
    if ('dedup' in node) throw new InvalidJobError(at('the jobs of a flow are not deduplicated.'));
    const { kind, payload, owners = parent.owners, onChildFailure = parent.onChildFailure } = node;
    if (!CHILD_POLICIES.includes(onChildFailure))
      throw new InvalidJobError(at(`onChildFailure is one of ${CHILD_POLICIES.join(', ')}.`));
    const request = naming(at, () =>
      readRequest(kind, payload, { owners, dedup: { strategy: 'none' } }, maxBytes),
    );
    const children = (node.children ?? []).map((child, i) =>
      read(child, { owners, onChildFailure }, `${place && `${place}.`}children[${i}]`, depth + 1),
    );
    return { id: newJobId(kind.queue), request, onChildFailure, children };
  };
  return read(flow, { owners: [], onChildFailure: 'fail' }, '', 1);
}

/** All jobs of a flow, each before its children. */
export function jobsOf(flow: FlowJob): FlowJob[] {
  return [flow, ...flow.children.flatMap(jobsOf)];
}

function naming<T>(at: (what: string) => string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidJobError) throw new InvalidJobError(at(error.message), { cause: error });
    throw error;
  }
}
