import { inGroups } from '#core/parts';
import type { JobViewState } from '../read/job-view.js';
import type { MooringStore } from '../store/mooring-store.js';
import { READ_IN_ONE_STEP, type JobSource, type SourceEntry, type SourcePage } from './job-source.js';
import { listedJob, type StoredFacts } from './listed-job.js';
import { PrioritizedJobs } from './prioritized-jobs.js';

/** BullMQ's score of a delayed job is the time when it is due, ms, times this. */
const DUE_FACTOR = 0x1000;

/** What BullMQ keeps jobs in, in the order in which a job passes them: how it is read, and the state of the jobs. */
const STRUCTURES = {
  'waiting-children': { read: 'set', state: 'waiting' },
  delayed: { read: 'set', state: 'delayed' },
  prioritized: { read: 'priority', state: 'waiting' },
  wait: { read: 'list', state: 'waiting' },
  paused: { read: 'list', state: 'waiting' },
  active: { read: 'list', state: 'running' },
  completed: { read: 'set', state: 'completed' },
  failed: { read: 'set', state: 'failed' },
} as const;

export type Structure = keyof typeof STRUCTURES;
export const STRUCTURES_IN_ORDER = Object.keys(STRUCTURES) as Structure[];

/** Where BullMQ has the jobs of a state. */
export function structuresOf(state: JobViewState): Structure[] {
  const wanted = state === 'retrying' ? 'delayed' : state;
  return STRUCTURES_IN_ORDER.filter((each) => STRUCTURES[each].state === wanted);
}

type StoredEntry = readonly [place: string, id: string, facts: StoredFacts];

/** One of BullMQ's lists and sorted sets of a queue. */
export class QueueSource implements JobSource {
  readonly name: string;
  private prioritized: PrioritizedJobs | undefined;
  private reached: string | undefined;

  constructor(
    private readonly store: MooringStore,
    readonly queue: string,
    readonly structure: Structure,
  ) {
    this.name = `${structure}/${queue}`;
  }

  get isList(): boolean {
    return STRUCTURES[this.structure].read === 'list';
  }

  count(): Promise<number> {
    return this.store.call(this.isList ? 'llen' : 'zcard', this.key);
  }

  read(after: string | undefined, most: number): Promise<SourcePage> {
    const { read } = STRUCTURES[this.structure];
    return readInSteps(after, most, (place, count) =>
      read === 'priority' ? this.byPriority(count, place) : this.step(read, count, place),
    );
  }

  /** Of these jobs, in their order. */
  async readIds(ids: readonly string[]): Promise<SourceEntry[]> {
    const found: SourceEntry[] = [];
    for (const group of inGroups(ids, READ_IN_ONE_STEP))
      found.push(...(await this.step('ids', group.length, '', group)));
    return found;
  }

  /** The ids of a list, from an index on. */
  ids(from: number, to: number): Promise<string[]> {
    return this.store.call('lrange', this.key, from, to);
  }

  private get key(): string {
    return `${this.store.root}:${this.queue}:${this.structure}`;
  }

  /** Steps that follow one another in a list share what was read of the priorities. */
  private async byPriority(count: number, place: string): Promise<SourceEntry[]> {
    if (!this.prioritized || this.reached !== place)
      this.prioritized = new PrioritizedJobs(this.store, this.key, place === '' ? undefined : Number(place));
    const jobs = await this.prioritized.next(count);
    const entries = await this.readIds(jobs.map(({ id }) => id));
    this.reached = String(jobs.at(-1)?.number);
    return entries.map((entry, i) => ({ ...entry, place: String(jobs[i]!.number) }));
  }

  private async step(
    read: string,
    count: number,
    place: string,
    ids: readonly string[] = [],
  ): Promise<SourceEntry[]> {
    const prefix = `${this.store.root}:${this.queue}:`;
    const args = [prefix, read, count, place, '', ...ids];
    return (await this.store.run<StoredEntry[]>('listJobs', this.key, args)).map((entry) =>
      this.entryOf(entry),
    );
  }

  private entryOf([place, id, facts]: StoredEntry): SourceEntry {
    const { queue, structure } = this;
    const state = structure === 'delayed' && Number(facts[4]) > 0 ? 'retrying' : STRUCTURES[structure].state;
    const dueAt = structure === 'delayed' ? Math.floor(parseFloat(place) / DUE_FACTOR) : undefined;
    return { place, job: listedJob({ queue, id, state, facts, dueAt }), retriedBy: facts[7] };
  }
}

/** Reads step by step, each behind the last place of the one before. */
export async function readInSteps<E extends { readonly place: string }>(
  after = '',
  most: number,
  step: (after: string, count: number) => Promise<E[]>,
): Promise<{ entries: E[]; isLast: boolean }> {
  const entries: E[] = [];
  while (entries.length < most) {
    const count = Math.min(READ_IN_ONE_STEP, most - entries.length);
    const page = await step(entries.at(-1)?.place ?? after, count);
    entries.push(...page);
    if (page.length < count) return { entries, isLast: true };
  }
  return { entries, isLast: false };
}
