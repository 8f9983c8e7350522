import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { QueueRegistry } from '../../enqueue/queue-registry.js';
import { JobRetention } from '../../kinds/job-retention.js';
import { KindRegistry } from '../../kinds/kind-registry.js';
import { inLanes } from '../in-lanes.js';
import { MooringStore } from '../../store/mooring-store.js';
import { Sweep, type Page, type Round } from '../sweep.js';
import { JobKeepers } from './job-keepers.js';
import { JobRemover, type Excess, type Removed } from './job-remover.js';
import { Quarantine } from './quarantine.js';

/** A page is read with the payloads. */
const MOST_JOBS = 100;

/** Where a sweep is: behind `from` of the newest jobs of a queue and state, which it has counted by kind. */
interface Position {
  readonly queue: string;
  readonly state: 'completed' | 'failed';
  readonly from: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly last?: readonly [finishedOn: number, id: string];
  /** Jobs in quarantine that it came by. */
  readonly waiting: number;
}

/**
 * Removes finished jobs that are older, or more, than their kind keeps, each after its artifacts. It reads the jobs of a queue from the
 * newest on and counts them by kind. Of queues without artifacts and keepers BullMQ removes finished jobs itself.
 */
@Injectable()
export class RetentionSweep extends Sweep {
  readonly kind = 'retention';

  constructor(
    private readonly store: MooringStore,
    private readonly kinds: KindRegistry,
    private readonly retention: JobRetention,
    private readonly queues: QueueRegistry,
    private readonly keepers: JobKeepers,
    private readonly quarantine: Quarantine,
    private readonly remover: JobRemover,
  ) {
    super();
  }

  async sweepOnce(limit: number, round: Round): Promise<Page> {
    const at = round.position === undefined ? this.after() : (JSON.parse(round.position) as Position);
    if (!at) return { position: null, why: 'BullMQ removes the jobs of all queues.' };
    const nowMs = await this.store.now();
    const { length, jobs } = await this.read(at, Math.min(limit, MOST_JOBS));
    const { excess, unknown, ...counted } = this.judge(at, jobs, nowMs);
    const stays = await this.staying(at, excess, round);
    const going = excess.filter(({ job }) => !stays.all.has(job.id!));
    const ends = await inLanes(going, round.signal, (each) =>
      round.dryRun ? Promise.resolve<Removed>('removed') : this.remover.remove(each, at.state, nowMs),
    );
    const gone = going.filter((_, i) => ends[i] === 'removed').map(({ job }) => job.id!);
    if (!round.dryRun) await this.quarantine.forget(gone);
    const { length: removed } = gone;
    const failed = ends.filter((end) => typeof end === 'object').length;
    const lines = ends.flatMap((end, i) => lineOf(going[i]!, end));
    const counts = { seen: length, removed, failed, unknown, kept: length - removed - failed - unknown };
    // The page is repeated, without the jobs that it has removed.
    if (round.signal.aborted)
      return { removed, failed, seen: removed + failed, lines, position: JSON.stringify(at) };
    const waiting = at.waiting + stays.quarantined;
    const from = at.from + length - (round.dryRun ? 0 : removed);
    const next = length === 0 ? this.after(at) : { ...at, ...counted, from };
    if (next) return { ...counts, lines, position: JSON.stringify({ ...next, waiting }) };
    const why = waiting > 0 && { why: `${waiting} in quarantine: see GET /v1/admin/quarantine` };
    return { ...counts, lines, waiting, ...why, position: null };
  }

  /** Jobs that end meanwhile push the others back: those that were counted before are passed over. */
  private judge({ state, last, counts }: Position, jobs: readonly Job[], nowMs: number): Judged {
    const judged = { counts: { ...counts }, excess: [] as Excess[], unknown: 0, ...(last && { last }) };
    for (const job of jobs) {
      const ended = [job.finishedOn ?? 0, job.id!] as const;
      if (judged.last && !isBefore(ended, judged.last)) continue;
      judged.last = ended;
      const kind = this.kinds.find(job.name);
      if (!kind) judged.unknown += 1;
      if (!kind) continue;
      const number = (judged.counts[job.name] ?? 0) + 1;
      judged.counts[job.name] = number;
      const { age, count } = this.retention.of(kind, state);
      const keptSince = nowMs - age * 1_000;
      if (ended[0] <= keptSince)
        judged.excess.push({ job, reason: `it ended more than ${age} s ago`, keptSince });
      else if (number > count)
        judged.excess.push({ job, reason: `there are ${count} newer ones of its kind` });
    }
    return judged;
  }

  private async staying(
    { state }: Position,
    excess: readonly Excess[],
    { force }: Round,
  ): Promise<{ all: ReadonlySet<string>; quarantined: number }> {
    const jobs = excess.map(({ job }) => job);
    const wanted = await this.keepers.wanted(state === 'completed' ? jobs : []);
    const quarantined = await this.quarantine.among(force ? [] : jobs.map(({ id }) => id!));
    return { all: new Set([...wanted, ...quarantined]), quarantined: quarantined.size };
  }

  /** A job that is not valid JSON does not hold up the others. */
  private async read(
    { queue, state, from }: Position,
    limit: number,
  ): Promise<{ length: number; jobs: Job[] }> {
    const at = this.queues.get(queue);
    const ids = await at.getRanges([state], from, from + limit - 1, false);
    const read = ids.map((id) =>
      at.getJob(id).catch((error: unknown) => {
        if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
      }),
    );
    return { length: ids.length, jobs: (await Promise.all(read)).filter((job) => job !== undefined) };
  }

  private after(at?: Position): Position | undefined {
    const begin = { from: 0, counts: {}, waiting: at?.waiting ?? 0 };
    if (at?.state === 'completed') return { ...begin, queue: at.queue, state: 'failed' };
    const queues = [...new Set(this.kinds.all().map(({ queue }) => queue))].toSorted();
    const queue = queues.find((name) => (!at || name > at.queue) && this.retention.isSwept(name));
    return queue === undefined ? undefined : { ...begin, queue, state: 'completed' };
  }
}

interface Judged extends Pick<Position, 'counts' | 'last'> {
  readonly excess: readonly Excess[];
  readonly unknown: number;
}

function lineOf({ job, reason }: Excess, end: Removed): { what: string; why: string }[] {
  if (end === 'kept') return [];
  return [{ what: job.id!, why: end === 'removed' ? reason : `it could not be removed: ${end.failed}` }];
}

function isBefore(a: readonly [number, string], b: readonly [number, string]): boolean {
  return a[0] === b[0] ? a[1] < b[1] : a[0] < b[0];
}
