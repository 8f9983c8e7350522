import { inGroups } from '#core/parts';
import type { MooringStore } from '../store/mooring-store.js';

const PRIORITIES_IN_ONE_STEP = 50;
/** Of each priority, at first. */
const FIRST_READ = 2;
/** BullMQ's. */
const HIGHEST_PRIORITY = 0x200000;
const ABOVE_ALL_NUMBERS = 0x100000000;

/** A prioritized job, and the number by which those of all priorities are in order. */
interface Numbered {
  readonly id: string;
  readonly number: number;
}

interface Band {
  readonly priority: number;
  jobs: Numbered[];
  /** It was read down to this number. */
  read: number;
  /** Nothing is below. */
  isWhole: boolean;
}

type StoredBand = readonly [priority: number, ...jobs: (string | number)[]];

/** The prioritized jobs of a queue, of all priorities, the newest first. Each priority is read only as far as it may have one of the next jobs. */
export class PrioritizedJobs {
  private bands: Map<number, Band> | undefined;

  /** @param below only jobs below this number */
  constructor(
    private readonly store: MooringStore,
    private readonly key: string,
    private readonly below = ABOVE_ALL_NUMBERS,
  ) {}

  async next(count: number): Promise<Numbered[]> {
    this.bands ??= await this.readFirst();
    const bands = [...this.bands.values()];
    for (let most = Math.ceil((2 * count) / bands.length); ; most *= 2) {
      const newest = bands.flatMap(({ jobs }) => jobs).toSorted((a, b) => b.number - a.number);
      const last = newest[count - 1]?.number ?? -1;
      const short = bands.filter(({ isWhole, read }) => !isWhole && read > last);
      if (short.length === 0) return this.take(newest.slice(0, count));
      await this.readOn(short, most + FIRST_READ);
    }
  }

  private take(newest: Numbered[]): Numbered[] {
    const last = newest.at(-1)?.number ?? 0;
    for (const band of this.bands!.values()) band.jobs = band.jobs.filter(({ number }) => number < last);
    return newest;
  }

  private async readFirst(): Promise<Map<number, Band>> {
    const bands = new Map<number, Band>();
    for (let from = String(HIGHEST_PRIORITY); from !== '';) {
      const [next, ...found] = await this.step(FIRST_READ, [from]);
      for (const stored of found) bands.set(stored[0], bandOf(stored, FIRST_READ));
      from = next;
    }
    return bands;
  }

  private async readOn(short: readonly Band[], most: number): Promise<void> {
    for (const group of inGroups(short, PRIORITIES_IN_ONE_STEP)) {
      const [, ...found] = await this.step(
        most,
        group.flatMap(({ priority, read }) => [priority, read]),
      );
      const byPriority = new Map(found.map((stored) => [stored[0], bandOf(stored, most)]));
      for (const band of group) {
        const { jobs, read, isWhole } = byPriority.get(band.priority) ?? { jobs: [], read: 0, isWhole: true };
        band.jobs.push(...jobs);
        Object.assign(band, { read, isWhole });
      }
    }
  }

  private step(most: number, from: readonly (string | number)[]): Promise<[next: string, ...StoredBand[]]> {
    return this.store.run('listPriorities', this.key, [this.below, most, PRIORITIES_IN_ONE_STEP, ...from]);
  }
}

function bandOf([priority, ...stored]: StoredBand, most: number): Band {
  const jobs = inGroups(stored, 2).map(([id, number]) => ({ id: String(id), number: Number(number) }));
  return { priority, jobs, read: jobs.at(-1)?.number ?? 0, isWhole: jobs.length < most };
}
