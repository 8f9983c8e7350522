import type { Job } from 'bullmq';
import { ChildRemovedError } from '../errors.js';
import type { ChildPolicy } from './flow.js';

/** What a parent knows of its children: their ids and kinds, in the order of the flow. */
export interface Family {
  readonly onChildFailure: ChildPolicy;
  readonly children: readonly (readonly [id: string, kind: string])[];
}

/** How a child ended, as the handler of its parent sees it. */
export type ChildOutcome = { readonly id: string; readonly kind: string } & (
  | { readonly state: 'completed'; readonly result: unknown }
  | { readonly state: 'failed' | 'cancelled' | 'expired'; readonly error: string }
  /** It has not ended; only a parent that continues starts while there are such. */
  | { readonly state: 'pending' }
  | { readonly state: 'removed' }
);

/** The children of a job in the order of the flow; none for a job that has none. */
export async function readChildren(job: Job): Promise<ChildOutcome[]> {
  const { children = [] } = job.opts.family ?? {};
  if (children.length === 0) return [];
  const { processed = {}, ignored = {}, unprocessed = [], failed = [] } = await job.getDependencies();
  const [results, errors] = [byId(processed), byId(ignored as Record<string, string>)];
  const [pending, unsuccessful] = [new Set(unprocessed.map(idOf)), new Set(failed.map(idOf))];
  return children.map(([id, kind]): ChildOutcome => {
    if (results.has(id)) return { id, kind, state: 'completed', result: results.get(id) };
    const error = errors.get(id) ?? (unsuccessful.has(id) ? '' : undefined);
    // The gate gives these two words to a child that it ends.
    if (error === 'cancelled' || error === 'expired') return { id, kind, state: error, error };
    if (error !== undefined) return { id, kind, state: 'failed', error };
    return { id, kind, state: pending.has(id) ? 'pending' : 'removed' };
  });
}

/** Before the handler of a parent: to BullMQ a child that was removed is as good as one that completed. @throws ChildRemovedError */
export async function checkChildren(job: Job): Promise<void> {
  const { onChildFailure, children = [] } = job.opts.family ?? {};
  if (onChildFailure !== 'fail') return;
  const { processed = 0 } = await job.getDependenciesCount({ processed: true });
  if (processed < children.length) throw new ChildRemovedError();
}

function byId<T>(byKey: Record<string, T>): Map<string, T> {
  return new Map(Object.entries(byKey).map(([key, value]) => [idOf(key), value]));
}

/** BullMQ names a child by its key, of which its id is the last part. */
function idOf(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1);
}

// Stored by BullMQ beside its own options.
declare module 'bullmq/dist/esm/interfaces/base-job-options.js' {
  interface BaseJobOptions {
    readonly family?: Family;
  }
}
