import type { Owner, Owners } from '#core';
import type { JobHistory, KnownReceipts, RememberedJob } from '../history/job-history.js';
import type { MooringStore } from '../store/mooring-store.js';
import type { JobSource, SourcePage } from './job-source.js';
import type { ListedJob } from './listed-job.js';
import { readInSteps } from './queue-source.js';

/** As many as the history of an owner has. */
const MOST_OF_AN_OWNER = 1_000;

type StoredEntry = readonly [place: string, id: string, line: string];

/** The jobs of a queue that were removed, as far as they are remembered. The last to be removed is the first. */
export class RemovedSource implements JobSource {
  readonly name: string;

  constructor(
    private readonly store: MooringStore,
    private readonly history: JobHistory,
    private readonly queue: string,
  ) {
    this.name = `removed/${queue}`;
  }

  count(): Promise<number> {
    return this.store.call('zcard', this.times);
  }

  async read(after: string | undefined, most: number): Promise<SourcePage> {
    const { queue, store } = this;
    const { found, isLast } = await readInSteps(after, most, (place, count) =>
      store.run<StoredEntry[]>('listJobs', this.times, [
        '',
        'set',
        count,
        place,
        `${store.root}~gone~${queue}`,
      ]),
    );
    const receipts: KnownReceipts = new Map();
    const entries = found.map(async ([place, id, line]) => ({
      place,
      job: line === '' ? undefined : listedOf(id, queue, await this.history.recall(line, receipts)),
    }));
    return { entries: await Promise.all(entries), isLast };
  }

  private get times(): string {
    return `${this.store.root}~gone-at~${this.queue}`;
  }
}

/** The jobs of an owner that were removed, as its history has them. All of it is read for each page: it is short. */
export class HistorySource implements JobSource {
  readonly name = 'history';

  constructor(
    private readonly owners: Owners,
    private readonly history: JobHistory,
    private readonly owner: Owner,
  ) {}

  /** It is read at once. */
  async count(): Promise<number> {
    return 1;
  }

  async read(after: string | undefined, most: number): Promise<SourcePage> {
    const lines = await this.owners.history(this.owner, 0, MOST_OF_AN_OWNER);
    const places = lines.map((line) => ({ ...line, place: `${line.at} ${line.queue}:${line.id}` }));
    const left = places.filter(({ place }) => after === undefined || place < after);
    const page = left.toSorted((a, b) => (a.place < b.place ? 1 : -1)).slice(0, most);
    const jobs = await this.recall(page);
    const entries = page.map(({ queue, id, place }) => ({ place, job: jobs.get(`${queue}:${id}`) }));
    return { entries, isLast: left.length <= most };
  }

  private async recall(
    entries: readonly { readonly queue: string; readonly id: string }[],
  ): Promise<Map<string, ListedJob>> {
    const queues = [...new Set(entries.map(({ queue }) => queue))];
    const found = queues.map(async (queue) => {
      const ids = entries.filter((entry) => entry.queue === queue).map(({ id }) => id);
      const removed = await this.history.findAllRemoved(queue, ids);
      return ids.flatMap((id, i) => (removed[i] ? [listedOf(id, queue, removed[i])] : []));
    });
    const jobs = (await Promise.all(found)).flat();
    return new Map(jobs.map((job) => [`${job.queue}:${job.id}`, job]));
  }
}

function listedOf(id: string, queue: string, removed: RememberedJob): ListedJob {
  const { kind, owners, state, words, attempts, was, acceptedAt, beganAt, removedAt } = removed;
  return {
    id,
    kind,
    queue,
    owners,
    state,
    error: words,
    // A run that a cancel stopped was an attempt.
    attempts: attempts + (was === 'running' ? 1 : 0),
    acceptedAt: new Date(acceptedAt).toISOString(),
    beganAt: beganAt === undefined ? null : new Date(beganAt).toISOString(),
    endedAt: new Date(removedAt).toISOString(),
    dueAt: null,
  };
}
