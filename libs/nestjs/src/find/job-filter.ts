import { isWithin, type AccessLimits } from '../access/access-limits.js';
import type { JobViewState } from '../read/job-view.js';
import type { ListedJob } from './listed-job.js';

/** Which jobs a list shows: those to which all of it applies. */
export interface JobFilter {
  readonly queue?: string | undefined;
  readonly kind?: string | undefined;
  readonly state?: JobViewState | undefined;
  /** As in `trip:42`. */
  readonly owner?: string | undefined;
  /** A part of the text of the failure. */
  readonly error?: string | undefined;
  /** What the caller may see. */
  readonly within?: AccessLimits | undefined;
}

/** The states of jobs that are no longer there, and that are only remembered. */
export const REMEMBERED: readonly JobViewState[] = ['cancelled', 'expired', 'skipped', 'removed'];

export function matches(job: ListedJob, { queue, kind, state, owner, error, within }: JobFilter): boolean {
  return (
    (queue === undefined || job.queue === queue) &&
    (kind === undefined || job.kind === kind) &&
    (state === undefined || job.state === state) &&
    (owner === undefined || job.owners.includes(owner)) &&
    (error === undefined || (job.error ?? '').includes(error)) &&
    (within === undefined || isWithin(within, job))
  );
}
