import { UnrecoverableError, type Job } from 'bullmq';
import { openEnvelope } from '../kinds/envelope.js';
import { readFailure, type EndedAs } from '../kinds/outcome.js';

/** What became of a child, as its parent's handler sees it. */
export type ChildOutcome = { readonly id: string; readonly kind: string } & (
  | { readonly state: 'completed'; readonly result: unknown }
  | { readonly state: 'failed' | EndedAs; readonly error: string }
  /** It has not ended; only a parent that continues starts while there are such. */
  | { readonly state: 'pending' }
  /** Somebody took it out of its queue. */
  | { readonly state: 'removed' }
);

/** A child was removed from its queue. BullMQ counts that as success; to a parent that fails with its children it is none. */
export class ChildRemovedError extends UnrecoverableError {
  constructor() {
    super('a child of it was removed');
    this.name = 'ChildRemovedError';
  }
}

/** A job's children in the order in which the flow named them; none for a job that has none. */
export async function readChildren(job: Job): Promise<ChildOutcome[]> {
  const { c: family } = openEnvelope(job);
  if (!family) return [];
  const { processed = {}, ignored = {}, unprocessed = [], failed = [] } = await job.getDependencies();
  const results = byId(processed);
  const failures = byId(ignored as Record<string, string>);
  const pending = new Set(unprocessed.map(idOf));
  const unsuccessful = new Set(failed.map(idOf));
  return family.jobs.map(([id, kind]): ChildOutcome => {
    if (results.has(id)) return { id, kind, state: 'completed', result: results.get(id) };
    if (failures.has(id)) {
      const { endedAs, why } = readFailure(failures.get(id)!);
      return { id, kind, state: endedAs, error: why };
    }
    if (unsuccessful.has(id)) return { id, kind, state: 'failed', error: '' };
    return { id, kind, state: pending.has(id) ? 'pending' : 'removed' };
  });
}

/** Before a parent's handler: BullMQ lets a parent go when its children are removed, as if they had completed. */
export async function checkChildren(job: Job): Promise<void> {
  const { c: family } = openEnvelope(job);
  if (family?.on !== 'fail') return;
  const { processed = 0 } = await job.getDependenciesCount({ processed: true });
  if (processed < family.jobs.length) throw new ChildRemovedError();
}

function byId<T>(byKey: Record<string, T>): Map<string, T> {
  return new Map(Object.entries(byKey).map(([key, value]) => [idOf(key), value]));
}

/** BullMQ names a child by its key, of which its id is the last part. */
function idOf(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1);
}
