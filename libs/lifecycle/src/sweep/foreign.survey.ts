import { Injectable } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { ForeignJobs } from '../enqueue/foreign.jobs.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { Healing, Tally } from './healing.js';
import { QueueWalk } from './queue.walk.js';
import type { Page, Round } from './sweep.js';

/** So many ids are read in one sweep, over all queues. */
const IDS = 5_000;
/** What it counts as when nobody says whose it is. */
const NOBODYS = 'added by another program; its kind does not say whose it is';

/** Of which queue how many ids were read. */
interface Looking {
  readonly queue: number;
  readonly read?: number;
}

interface Looked {
  readonly page: Omit<Page, 'position'>;
  readonly next: Looking | undefined;
}

/** Finds jobs that other programs added, by the shape of their ids. What is not adopted is told, never removed. */
@Injectable()
export class ForeignSurvey {
  constructor(
    private readonly queues: Queues,
    private readonly store: Store,
    private readonly walk: QueueWalk,
    private readonly foreign: ForeignJobs,
    private readonly healing: Healing,
  ) {}

  /** A page of one queue; answers where the next is, nothing after the last. */
  async look({ queue: at, read = 0 }: Looking, limit: number, round: Round): Promise<Looked> {
    const all = this.queues.all().toSorted((a, b) => a.name.localeCompare(b.name));
    const queue = all[at];
    if (!queue) return { page: {}, next: undefined };
    const tally = new Tally();
    const rest = Math.ceil(IDS / all.length) - read;
    // What a dry run reads is not noted, so it reads all at once.
    const most = round.dryRun ? rest : Math.min(limit, rest);
    const { ids, isLast } = await this.walk.take('foreign', queue, most, round);
    for (const id of ids.filter((one) => this.foreign.isForeign(queue.name, one))) {
      if (round.signal.aborted) break;
      tally.seen += 1;
      await this.lookAt(queue, id, tally, round);
    }
    if (!round.dryRun) await this.walk.goBack('foreign', queue, tally.healed);
    const { seen, healed, unknown, lines } = tally;
    const page = { seen, healed, unknown, lines };
    if (!isLast && most < rest) return { page, next: { queue: at, read: read + most } };
    return { page, next: at + 1 < all.length ? { queue: at + 1 } : undefined };
  }

  private async lookAt(queue: Queue, id: string, tally: Tally, round: Round): Promise<void> {
    try {
      const why = await this.adopt(queue, id, tally, round);
      if (why !== undefined) leave(id, why, tally);
    } catch (error) {
      // It may fare better at the next sweep, or when a worker comes to it.
      leave(id, (error as Error).message, tally);
    }
  }

  /** Why not, if so. First the job of ours, then its end: who dies in between adopts it again, as the same. */
  private async adopt(
    queue: Queue,
    id: string,
    tally: Tally,
    { dryRun }: Round,
  ): Promise<string | undefined> {
    const job = await this.store.call(() => queue.getJob(id) as Promise<Job | undefined>);
    if (!job?.name) return undefined;
    // The next turn of a scheduler of BullMQ's follows from this one's run.
    if (job.repeatJobKey !== undefined)
      return 'a turn of a scheduler of BullMQ’s; it is adopted when it runs';
    const adoptable = this.foreign.read(job);
    if (!adoptable) return NOBODYS;
    if (dryRun) {
      this.healing.count('adopted', id, `would be adopted: ${adoptable.kind.name}`, tally, dryRun);
      return undefined;
    }
    const ours = await this.foreign.adopt(job, adoptable);
    // A worker has just taken it: it adopts it as the same.
    await this.store.call(() => queue.remove(id, { removeChildren: false }));
    this.healing.count('adopted', id, `adopted as ${ours}`, tally, dryRun);
    return undefined;
  }
}

function leave(what: string, why: string, tally: Tally): void {
  tally.unknown += 1;
  tally.lines.push({ what, why });
}
