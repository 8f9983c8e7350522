import { inGroups, ownersOfMark, readJobRef } from '#core/parts';
import { Injectable } from '@nestjs/common';
import type { JobRemoval } from './sweep-listener.js';
import { SweepRegistry } from './sweep-registry.js';
import { SweepStore } from './sweep-store.js';
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
    private readonly store: SweepStore,
    private readonly registry: SweepRegistry,
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
    const [seen, ...fields] = await this.store.owners.run<[number, ...string[]]>(
      'expire',
      this.deadlines,
      args,
    );
    const at = await this.store.now();
    const removals = inGroups(fields, 4).map((each) => removalOf(each, at));
    if (!dryRun && removals.length > 0) await this.registry.jobsLeave(removals);
    return {
      seen,
      removed: removals.length,
      kept: seen - removals.length,
      lines: removals.map(({ id, state }) => ({ what: id, why: `${REASON} (it was ${state})` })),
      position: seen < most ? null : String(Number(position) + removals.length),
    };
  }

  private get deadlines(): string {
    return `${this.store.owners.root}~deadlines`;
  }
}

function removalOf([ref, name, state, mark]: readonly string[], at: number): JobRemoval {
  const owners = ownersOfMark(mark!);
  return { ...readJobRef(ref!), name: name!, owners, state: state!, why: 'expired', reason: REASON, at };
}
