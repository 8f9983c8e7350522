import { formatOwner, type Owner } from '#core';
import { escapeText, readJobRef } from '#core/parts';
import type { JobViewState } from '../read/job-view.js';
import type { MooringStore } from '../store/mooring-store.js';
import { READ_IN_ONE_STEP, type JobSource, type SourceEntry, type SourcePage } from './job-source.js';
import { byNewest, isBehind, placeOf } from './job-order.js';
import { listedJob, type ListedJob, type StoredFacts } from './listed-job.js';

type StoredEntry = readonly [
  ref: string,
  state: JobViewState,
  isCancelled: string,
  facts: StoredFacts,
  dueAt: string,
];

/** The jobs of an owner that have not ended. They stand in its record, in no order: for a list all of them are read. */
export class OwnedSource implements JobSource {
  readonly name = 'owner';
  private readonly owner: string;
  private readonly record: string;
  private all: Promise<ListedJob[]> | undefined;

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
    this.all ??= this.readAll();
    const left = (await this.all).filter((job) => isBehind(job, after));
    const entries = left.slice(0, most).map((job): SourceEntry => ({ place: placeOf(job), job }));
    return { entries, isLast: left.length <= most };
  }

  /** A page in no order. A job that is there from the first page to the last is on one of them, or on two. '0' is the first and the last cursor. */
  async scan(cursor: string): Promise<{ jobs: ListedJob[]; next: string }> {
    const args = [this.owner, cursor, READ_IN_ONE_STEP, 'facts'];
    const [next, ...page] = await this.store.run<[string, ...StoredEntry[]]>('listOwned', this.record, args);
    return { jobs: page.map(readEntry).filter((job) => job !== undefined), next };
  }

  private async readAll(): Promise<ListedJob[]> {
    const jobs = new Map<string, ListedJob>();
    let cursor = '0';
    do {
      const page = await this.scan(cursor);
      for (const job of page.jobs) jobs.set(job.id, job);
      cursor = page.next;
    } while (cursor !== '0');
    return [...jobs.values()].toSorted(byNewest);
  }
}

function readEntry([ref, state, , facts, due]: StoredEntry): ListedJob | undefined {
  return listedJob({ ...readJobRef(ref), state, facts, dueAt: due === '' ? undefined : Number(due) });
}
