import type { MooredBackend } from '../backend/moored-backend.js';
import { ownerNames } from '../backend/owned-options.js';
import type { Owner } from '../model/owner.js';

const JOBS_IN_ONE_STEP = 100;

export interface RetryFilter {
  /** `failed` unless said otherwise. */
  readonly state?: 'failed' | 'completed';
  readonly name?: string;
  readonly owner?: Owner | string;
  /** A part of the text of their failure. */
  readonly failedReason?: string;
  /** They ended at this time, ms, or later. */
  readonly after?: number;
  /** They ended before this time, ms. */
  readonly before?: number;
  /** How many jobs are retried at most. */
  readonly limit?: number;
  /** Their attempts are counted from 0. */
  readonly resetAttempts?: boolean;
}

export interface RetriedJobs {
  readonly seen: number;
  readonly retried: number;
  /** Jobs of closed owners. They keep their error. */
  readonly refused: number;
  /** Jobs of which another one with their deduplication key waits already. They keep their error. */
  readonly duplicates: number;
}

/** Retries many jobs, a page a step: a queue with a million jobs is held up by none of them. */
export class BulkRetry {
  constructor(private readonly backend: MooredBackend) {}

  /** Jobs that fail again meanwhile are not retried a second time. */
  async retry({ after = 0, before, limit = Infinity, ...filter }: RetryFilter): Promise<RetriedJobs> {
    const total = { seen: 0, retried: 0, refused: 0, duplicates: 0 };
    const until = before === undefined ? '' : String(before - 1);
    let page: RetryPage = ['next', String(after), '', until, 0, 0, 0, 0];
    while (page[0] === 'next' && total.retried < limit) {
      page = await this.retryPage(page, filter, limit - total.retried);
      const [, , , , seen, retried, refused, duplicates] = page;
      total.seen += seen;
      total.retried += retried;
      total.refused += refused;
      total.duplicates += duplicates;
    }
    return total;
  }

  private async retryPage(
    [, at, id, until]: RetryPage,
    { state = 'failed', name = '', owner, failedReason = '', resetAttempts = false }: RetryFilter,
    most: number,
  ): Promise<RetryPage> {
    return (await this.backend.run('retryJobs', [
      this.backend.toKey(state),
      this.backend.root,
      this.backend.toKey(''),
      state,
      at,
      id,
      until,
      JOBS_IN_ONE_STEP,
      Math.min(most, JOBS_IN_ONE_STEP),
      resetAttempts ? 1 : 0,
      name,
      owner === undefined ? '' : ownerNames([owner])[0]!,
      failedReason,
    ])) as RetryPage;
  }
}

/** As `retry-jobs.lua` answers it. */
type RetryPage = [
  word: 'next' | 'done',
  at: string,
  id: string,
  until: string,
  seen: number,
  retried: number,
  refused: number,
  duplicates: number,
];
