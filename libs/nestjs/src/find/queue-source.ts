import type { MooringStore } from '../store/mooring-store.js';
import type { JobSource, SourceEntry, SourcePage } from './job-source.js';
import { listedJob, type StoredFacts } from './listed-job.js';

/** A step of the store reads at most this number of jobs. */
const READ_IN_ONE_STEP = 125;
/** A step looks at the newest job of each priority first, and there may be hundreds of priorities. */
const PRIORITIZED_IN_ONE_STEP = 25;
/** BullMQ's score of a delayed job is the time when it is due, ms, times this. */
const DUE_FACTOR = 0x1000;

/** What BullMQ keeps jobs in: how it is read, and the state of the jobs. */
const STRUCTURES = {
  wait: { read: 'list', state: 'waiting' },
  paused: { read: 'list', state: 'waiting' },
  prioritized: { read: 'priority', state: 'waiting' },
  'waiting-children': { read: 'set', state: 'waiting' },
  delayed: { read: 'set', state: 'delayed' },
  active: { read: 'list', state: 'running' },
  completed: { read: 'set', state: 'completed' },
  failed: { read: 'set', state: 'failed' },
} as const;

export type Structure = keyof typeof STRUCTURES;
export const ALL_STRUCTURES = Object.keys(STRUCTURES) as Structure[];

type StoredEntry = readonly [place: string, id: string, facts: StoredFacts];

/** One of BullMQ's lists and sorted sets of a queue. */
export class QueueSource implements JobSource {
  readonly name: string;

  constructor(
    private readonly store: MooringStore,
    private readonly queue: string,
    private readonly structure: Structure,
  ) {
    this.name = `${structure}/${queue}`;
  }

  count(): Promise<number> {
    const isList = STRUCTURES[this.structure].read === 'list';
    return this.store.call(isList ? 'llen' : 'zcard', this.key);
  }

  async read(after: string | undefined, most: number): Promise<SourcePage> {
    const { read } = STRUCTURES[this.structure];
    const prefix = `${this.store.root}:${this.queue}:`;
    const atOnce = read === 'priority' ? PRIORITIZED_IN_ONE_STEP : READ_IN_ONE_STEP;
    const step = (place: string, count: number): Promise<StoredEntry[]> =>
      this.store.run('listJobs', this.key, [prefix, read, count, place, '']);
    return readInSteps(after, most, step, atOnce).then(({ found, isLast }) => ({
      entries: found.map((entry) => this.entryOf(entry)),
      isLast,
    }));
  }

  private get key(): string {
    return `${this.store.root}:${this.queue}:${this.structure}`;
  }

  private entryOf([place, id, facts]: StoredEntry): SourceEntry {
    const { queue, structure } = this;
    const state = structure === 'delayed' && Number(facts[4]) > 0 ? 'retrying' : STRUCTURES[structure].state;
    const dueAt = structure === 'delayed' ? Math.floor(parseFloat(place) / DUE_FACTOR) : undefined;
    return { place, job: listedJob({ queue, id, state, facts, dueAt }) };
  }
}

/** Reads step by step, each behind the last place of the one before. */
export async function readInSteps<E extends readonly [place: string, ...unknown[]]>(
  after = '',
  most: number,
  step: (after: string, count: number) => Promise<E[]>,
  atOnce = READ_IN_ONE_STEP,
): Promise<{ found: E[]; isLast: boolean }> {
  const found: E[] = [];
  while (found.length < most) {
    const count = Math.min(atOnce, most - found.length);
    const page = await step(found.at(-1)?.[0] ?? after, count);
    found.push(...page);
    if (page.length < count) return { found, isLast: true };
  }
  return { found, isLast: false };
}
