import { READ_IN_ONE_STEP, type JobSource, type SourceEntry } from './job-source.js';
import type { ListedJob } from './listed-job.js';

const LEAST_READ = 10;

/** What was read of a source, and where it continues. */
export class Lane {
  private entries: readonly SourceEntry[] = [];
  private taken = 0;
  private isLast = false;

  /** @param count how many entries it has, or nearly   @param place it is read behind this one */
  constructor(
    readonly source: JobSource,
    readonly count: number,
    public place: string | undefined,
  ) {}

  get head(): SourceEntry | undefined {
    return this.entries[this.taken];
  }

  /** Its source goes on, and what follows there is not known. */
  get isDry(): boolean {
    return !this.head && !this.isLast;
  }

  get isOver(): boolean {
    return !this.head && this.isLast;
  }

  take(): SourceEntry {
    const entry = this.head!;
    this.taken += 1;
    this.place = entry.place;
    return entry;
  }

  /** Answers how many were read. */
  async fill(most: number): Promise<number> {
    const { entries, isLast } = await this.source.read(this.place, most);
    this.entries = entries;
    this.isLast = isLast;
    this.taken = 0;
    return entries.length;
  }
}

/**
 * Takes entries from the lanes, the newest of all heads first, until there are enough that are wanted. A lane that runs dry is filled again:
 * what follows there may be newer than the other heads.
 * @param most about how many entries are read; fewer than the limit may be found among them
 */
export async function mergeLanes(
  lanes: readonly Lane[],
  isWanted: (job: ListedJob) => boolean,
  limit: number,
  most: number,
): Promise<SourceEntry[]> {
  const taken: SourceEntry[] = [];
  for (let read = 0; taken.length < limit;) {
    const dry = lanes.filter((lane) => lane.isDry);
    if (dry.length > 0 && read >= most) break;
    read += await fillAll(dry, limit);
    const lane = newestOf(lanes);
    if (!lane) break;
    const entry = lane.take();
    if (entry.job && isWanted(entry.job)) taken.push(entry);
  }
  return taken;
}

/** What is asked of the store at once is no more than a step: it answers all of it before other clients. */
async function fillAll(lanes: readonly Lane[], limit: number): Promise<number> {
  const size = Math.min(READ_IN_ONE_STEP, Math.max(LEAST_READ, Math.ceil(limit / lanes.length)));
  let read = 0;
  for (let rest = lanes; rest.length > 0;) {
    let asked = 0;
    const fits = rest.findIndex((lane) => (asked += Math.min(size, lane.count)) > READ_IN_ONE_STEP);
    const group = rest.slice(0, fits === -1 ? rest.length : Math.max(1, fits));
    const counts = await Promise.all(group.map((lane) => lane.fill(size)));
    read += counts.reduce((sum, count) => sum + count, 0);
    rest = rest.slice(group.length);
  }
  return read;
}

/** The entry of a job that is gone goes first: it costs nothing. */
function newestOf(lanes: readonly Lane[]): Lane | undefined {
  let newest: Lane | undefined;
  for (const lane of lanes)
    if (lane.head && (!newest || timeOfHead(lane) > timeOfHead(newest))) newest = lane;
  return newest;
}

function timeOfHead({ head }: Lane): string {
  return head!.job?.acceptedAt ?? '~';
}
