import { Injectable } from '@nestjs/common';
import { EmptyCancels } from '../cancel/empty-cancels.js';
import { Journal } from '../journal.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import type { Tally } from './healing.js';
import type { Round } from './sweep.js';

const DAY_MS = 86_400_000;

/**
 * Owners that were closed, or reopened, without ever having had a job. They expire by themselves; a forced repair forgets those
 * of more than a day ago, which makes room below `MAX_CLOSED` and in the store.
 */
@Injectable()
export class ClosedOwners {
  constructor(
    private readonly store: Store,
    private readonly empties: EmptyCancels,
    private readonly journal: Journal,
  ) {}

  async purge(records: readonly string[], nowMs: number, tally: Tally, { dryRun }: Round): Promise<void> {
    const { redis } = this.store;
    const args = [nowMs - DAY_MS, dryRun ? 0 : 1];
    const answers = await this.store.call(() =>
      Promise.all(records.map((record) => runScript(redis, 'purge', [record], args) as Promise<string>)),
    );
    const purged = records.filter((_record, i) => answers[i] !== '');
    if (purged.length === 0) return;
    const what = `${purged.length} closed owner(s)`;
    tally.seen += purged.length;
    tally.healed += purged.length;
    tally.lines.push({
      what,
      why: 'closed for more than a day without ever having had a job; forgotten by force',
    });
    if (dryRun) return;
    await this.empties.uncount(purged.map(ownerOf));
    this.journal.entryHealed('closed', what);
  }
}

/** The digest of the owner in the key of its record. */
function ownerOf(record: string): string {
  return record.slice(record.lastIndexOf('{') + 1, -1);
}
