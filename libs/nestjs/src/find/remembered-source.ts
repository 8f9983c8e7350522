import type { Owner, Owners } from '#core';
import type { JobHistory, KnownReceipts, RememberedJob } from '../history/job-history.js';
import type { MooringStore } from '../store/mooring-store.js';
import type { JobSource, SourcePage } from './job-source.js';
import type { ListedJob } from './listed-job.js';
import { readInSteps } from './queue-source.js';

/** As many as the history of an owner has. */
const MOST_OF_AN_OWNER = 1_000;

interface HistoryPlace {
  readonly queue: string;
  readonly id: string;
  readonly place: string;
}

type StoredEntry = readonly [place: string, id: string, line: string];

/** The jobs of a queue that were removed, as far as they are remembered. The last to be removed is the first. */
export class RemovedSource implements JobSource {
  readonly name: string;
  private readonly receipts: KnownReceipts = new Map();

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
    const texts = `${store.root}~gone~${queue}`;
    return readInSteps(after, most, async (from, count) => {
      const args = ['', 'set', count, from, texts];
      const found = await store.run<StoredEntry[]>('listJobs', this.times, args);
      const entries = found.map(async ([place, id, line]) => ({
        place,
        job: line === '' ? undefined : listedOf(id, queue, await this.history.recall(line, this.receipts)),
      }));
      return Promise.all(entries);
    });
  }

  private get times(): string {
    return `${this.store.root}~gone-at~${this.queue}`;
  }
}

/** The jobs of an owner that were removed, as its history has them. All of it is read at once: it is short. */
export class HistorySource implements JobSource {
  readonly name = 'history';
  private all: Promise<HistoryPlace[]> | undefined;

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
    this.all ??= this.readAll();
    const left = (await this.all).filter(({ place }) => after === undefined || place < after);
    const page = left.slice(0, most);
    const jobs = await this.recall(page);
    const entries = page.map(({ queue, id, place }) => ({ place, job: jobs.get(`${queue}:${id}`) }));
    return { entries, isLast: left.length <= most };
  }

  private async readAll(): Promise<HistoryPlace[]> {
    const lines = await this.owners.history(this.owner, 0, MOST_OF_AN_OWNER);
    const places = lines.map(({ at, queue, id }) => ({ queue, id, place: `${at} ${queue}:${id}` }));
    return places.toSorted((a, b) => (a.place < b.place ? 1 : -1));
  }

  private async recall(entries: readonly HistoryPlace[]): Promise<Map<string, ListedJob>> {
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
