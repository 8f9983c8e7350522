import { formatOwner, type Owner } from '#core';
import { escapeText, readJobRef } from '#core/parts';
import type { JobViewState } from '../read/job-view.js';
import type { MooringStore } from '../store/mooring-store.js';
import type { JobSource, SourceEntry, SourcePage } from './job-source.js';
import { byNewest, isBehind, placeOf } from './job-order.js';
import { listedJob, type ListedJob, type StoredFacts } from './listed-job.js';

const READ_IN_ONE_STEP = 100;

type StoredEntry = readonly [ref: string, state: JobViewState, facts: StoredFacts, dueAt: string];

/** The jobs of an owner that have not ended. They stand in its record, in no order, so all of them are read for each page. */
export class OwnedSource implements JobSource {
  readonly name = 'owner';
  private readonly owner: string;
  private readonly record: string;

  constructor(
    private readonly store: MooringStore,
    owner: Owner,
  ) {
    this.owner = escapeText(formatOwner(owner));
    this.record = `${store.root}~owner~${this.owner}`;
  }

  count(): Promise<number> {
    return this.store.call('hlen', this.record);
  }

  async read(after: string | undefined, most: number): Promise<SourcePage> {
    const jobs = new Map<string, ListedJob>();
    let cursor = '0';
    do {
      const args = [this.owner, cursor, READ_IN_ONE_STEP];
      const [next, ...page] = await this.store.run<[string, ...StoredEntry[]]>(
        'listOwned',
        this.record,
        args,
      );
      // A job may be on two pages while the record changes.
      for (const job of page.map(readEntry)) if (job) jobs.set(job.id, job);
      cursor = next;
    } while (cursor !== '0');
    const left = [...jobs.values()].filter((job) => isBehind(job, after)).toSorted(byNewest);
    const entries = left.slice(0, most).map((job): SourceEntry => ({ place: placeOf(job), job }));
    return { entries, isLast: left.length <= most };
  }
}

function readEntry([ref, state, facts, due]: StoredEntry): ListedJob | undefined {
  return listedJob({ ...readJobRef(ref), state, facts, dueAt: due === '' ? undefined : Number(due) });
}
