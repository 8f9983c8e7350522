import type { JobView } from './job-view.js';
import type { RemovedJob } from './removed-jobs.js';
import { isoTime, type TimelineEntry } from './timeline.js';

const TOO_LATE = 'it did not start in time';

/** A run that was stopped is cancelled; a job that was taken out of its queue is removed. */
export function viewOfRemoved(id: string, queue: string, removed: RemovedJob): JobView {
  const { name, owners, attempts = 0 } = removed;
  const wasRunning = removed.state === 'running';
  const state = nameEnd(removed);
  const why = state === 'expired' ? (removed.reason ?? TOO_LATE) : wordsOf(removed);
  const end = { at: isoTime(removed.at), event: state, why };
  return {
    id,
    kind: name || '?',
    queue,
    owners,
    state,
    progress: null,
    result: null,
    error: why,
    why,
    attempts: attempts + (wasRunning ? 1 : 0),
    timeline: state === 'removed' ? [end] : [...lifeOf(removed), end],
  };
}

function nameEnd({ why, state }: RemovedJob): 'expired' | 'skipped' | 'cancelled' | 'removed' {
  if (why === 'expired' || why === 'skipped') return why;
  return why === 'cancelled' && state === 'running' ? why : 'removed';
}

/** As in `cancelled by ops: trip called off (it was delayed)`. */
function wordsOf({ why, by, reason, state }: RemovedJob): string {
  return `${why}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}${state ? ` (it was ${state})` : ''}`;
}

function lifeOf({ at, added, begun, state, attempts = 0 }: RemovedJob): TimelineEntry[] {
  const accepted = added ? [{ at: isoTime(added), event: 'accepted' as const }] : [];
  if (state !== 'running' || !begun) return accepted;
  const began = { at: isoTime(begun), event: 'began', attempt: attempts + 1 } as const;
  return [...accepted, began, { at: isoTime(at), event: 'aborted' }];
}
