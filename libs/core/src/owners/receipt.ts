import { unescapeText } from '../scripts/escape.js';
import { readJobRef } from '../scripts/job-ref.js';

/** What a cancel did, as it stands now. */
export interface Receipt {
  readonly cancelId: string;
  readonly owner: string;
  /** The job, if not all of the owner was cancelled. */
  readonly job?: { readonly queue: string; readonly id: string };
  /** The owner's epoch since; '' when single jobs were cancelled. */
  readonly epoch: string;
  readonly at: number;
  readonly reason: string;
  readonly by: string;
  /** The owner takes no new jobs. */
  readonly closed: boolean;
  /** The event is older than the owner's last reopening: nothing was cancelled. */
  readonly late: boolean;
  /** Jobs that were taken out of their queues. */
  readonly removed: number;
  /** Runs that were told to stop. */
  readonly aborted: number;
  /** Of these, how many have ended since. */
  readonly acknowledged: number;
  /** Of these, how many did not stop in time: their code may go on, their results do not count. */
  readonly abandoned: number;
  /** Schedulers that ended with their next job. */
  readonly schedules: number;
  readonly byQueue: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Nothing is left of it in any queue or index. */
  readonly done: boolean;
  /** Whether `durability` confirmed the cancel; always false without it. */
  readonly durable: boolean;
  /** It says what a cancel would do. Nothing was done. */
  readonly dryRun?: true;
}

/** The receipt of a cancel that found nothing to do, of which nothing is kept. */
export function emptyReceipt(cancelId: string, owner: string, facts: Partial<Receipt>): Receipt {
  return { ...readReceipt(cancelId, { owner, done: '1' }), ...facts };
}

export function readReceipt(cancelId: string, fields: Readonly<Record<string, string>>): Receipt {
  const counts = Object.entries(fields).filter(([field]) => field.includes(':'));
  return {
    cancelId,
    owner: unescapeText(fields['owner'] ?? ''),
    ...(fields['jobs'] && { job: readJobRef(fields['jobs'].split('\n', 1)[0]!) }),
    epoch: fields['epoch'] ?? '',
    at: Number(fields['at'] ?? 0),
    reason: fields['reason'] ?? '',
    by: fields['by'] ?? '',
    closed: fields['closed'] === '1',
    late: false,
    removed: total(counts, 'removed') + total(counts, 'refused'),
    aborted: total(counts, 'aborted'),
    acknowledged: total(counts, 'acknowledged'),
    abandoned: total(counts, 'abandoned'),
    schedules: Number(fields['schedules'] ?? 0),
    byQueue: countByQueue(counts),
    done: fields['done'] === '1' && fields['spread'] === undefined,
    durable: fields['durable'] === '1',
  };
}

function total(counts: readonly [string, string][], what: string): number {
  return counts
    .filter(([field]) => field.startsWith(`${what}:`))
    .reduce((sum, [, count]) => sum + Number(count), 0);
}

/** removed:audio:waiting counts as waiting, aborted:audio as aborted. */
function countByQueue(counts: readonly [string, string][]): Record<string, Record<string, number>> {
  const byQueue: Record<string, Record<string, number>> = {};
  for (const [field, count] of counts) {
    const [what, queue, state] = field.split(':') as [string, string, string?];
    (byQueue[queue] ??= {})[state ?? what] = Number(count);
  }
  return byQueue;
}
