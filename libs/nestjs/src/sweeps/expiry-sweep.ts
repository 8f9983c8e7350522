import { inGroups, readJobRef, unescapeText } from '#core/parts';
import { Injectable } from '@nestjs/common';
import type { JobFacts } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import { MooringStore } from '../store/mooring-store.js';
import { Sweep, type Page, type Round } from './sweep.js';

/** The most that one step of the store removes. */
const MOST_JOBS = 100;
const REASON = 'it did not start in time';

/**
 * Removes jobs whose time to start is over, without waiting for a worker to fetch them. The core keeps the deadlines, and removes a job
 * in one step with its index entries; a process may die at any time.
 */
@Injectable()
export class ExpirySweep extends Sweep {
  readonly kind = 'expiry';

  constructor(
    private readonly store: MooringStore,
    private readonly journal: Journal,
  ) {
    super();
  }

  override async hasWork(): Promise<boolean> {
    const first = await (await this.store.client).zrange(this.deadlines, 0, 0, { WITHSCORES: true });
    return first.length > 0 && Number(first[1]) < (await this.store.now());
  }

  /** A dry run passes over what the pages before have answered; otherwise that has left the deadlines. */
  async sweepOnce(limit: number, { dryRun, position = '0' }: Round): Promise<Page> {
    const most = Math.min(limit, MOST_JOBS);
    const args = [most, dryRun ? position : ''];
    const [seen, ...fields] = await this.store.run<[number, ...string[]]>('expire', this.deadlines, args);
    const removals = inGroups(fields, 4).map(removalOf);
    if (!dryRun)
      for (const { state: _, ...facts } of removals)
        this.journal.tell({ event: 'job.expired', ...facts, why: REASON, by: 'sweep' });
    return {
      seen,
      removed: removals.length,
      kept: seen - removals.length,
      lines: removals.map(({ jobId, state }) => ({ what: jobId, why: `${REASON} (it was ${state})` })),
      position: seen < most ? null : String(Number(position) + removals.length),
    };
  }

  private get deadlines(): string {
    return `${this.store.root}~deadlines`;
  }
}

function removalOf([ref, kind, state, owner]: readonly string[]): JobFacts & { readonly state: string } {
  const { queue, id: jobId } = readJobRef(ref!);
  return { queue, kind: kind!, jobId, owner: unescapeText(owner!), state: state! };
}
