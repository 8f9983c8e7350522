import { Injectable } from '@nestjs/common';
import type { Order } from './cancel/order.js';
import type { Receipt } from './cancel/receipts.js';
import type { EndedAs } from './kinds/outcome.js';
import type { Teller } from './news/teller.js';
import { LifecycleOptions } from './options.js';
import type { SweepKind } from './sweep/sweep.js';
import type { SweepRecord } from './sweep/sweep.record.js';
import type { JobFacts } from './kinds/job-facts.js';

/** A thing that happened, as fields. The four that say which job it was are the same in every `job.*` fact. */
export type Fact =
  | ({ readonly event: 'job.accepted' } & JobFacts)
  | ({ readonly event: 'job.deduplicated'; readonly outcome: 'skipped' | 'coalesced' } & JobFacts)
  | ({ readonly event: 'job.put-off'; readonly why: string; readonly forMs: number } & JobFacts)
  | ({
      readonly event: 'job.skipped';
      readonly endedAs: EndedAs;
      readonly why: string;
      readonly by?: SkippedBy;
    } & JobFacts)
  | ({ readonly event: 'job.lost'; readonly why: string } & JobFacts)
  | ({ readonly event: 'job.began'; readonly waitedMs?: number } & JobFacts)
  | ({ readonly event: 'job.completed'; readonly tookMs: number; readonly lifetimeMs: number } & JobFacts)
  | ({
      readonly event: 'job.failed';
      readonly tookMs: number;
      readonly why: string;
      readonly final: boolean;
      readonly lifetimeMs?: number;
    } & JobFacts)
  | ({ readonly event: 'job.handed-back'; readonly why: string } & JobFacts)
  | { readonly event: 'job.stalled'; readonly queue: string; readonly jobId: string }
  | ({ readonly event: 'owner.cancelling'; readonly why: 'cancelled' | 'orphan' } & Pick<
      Receipt,
      'cancelId' | 'owner' | 'job' | 'reason' | 'by'
    >)
  | ({ readonly event: 'owner.cancelled' } & Receipt)
  | { readonly event: 'resolver.failed'; readonly type: string; readonly asked: number; readonly why: string }
  | { readonly event: 'resolver.missing'; readonly type: string; readonly why: string }
  | {
      readonly event: 'schedule.failed' | 'schedule.ended';
      readonly schedule: string;
      readonly owner: string;
      readonly why: string;
    }
  | ({
      readonly event: 'sweep.done' | 'sweep.tripped' | 'sweep.stopped' | 'sweep.failed';
    } & Omit<SweepRecord, 'state'>)
  | {
      readonly event: 'sweep.trouble';
      readonly sweep: SweepKind;
      readonly what: string;
      readonly why: string;
    }
  | { readonly event: 'entry.healed'; readonly what: Healed; readonly name: string }
  | { readonly event: 'artifact.missing'; readonly jobId: string; readonly artifact: string }
  | { readonly event: 'queue.error'; readonly queue: string; readonly why: string }
  | {
      readonly event: 'worker.started';
      readonly queues: readonly string[];
      readonly kinds: readonly string[];
    }
  | WorkloadFact
  | { readonly event: 'worker.draining'; readonly running: number }
  | { readonly event: 'worker.drained'; readonly tookMs: number; readonly stillRunning: number };

/** Who ended a job that did not come to the gate; absent when it was ended there. */
export type SkippedBy = 'sweep' | 'clean-up' | 'replacement';

/** A thing that happened to something of a workload's: that gives it its name, and says what is to be known of it. */
export interface WorkloadFact {
  readonly event: 'workload';
  /** As in `lease.expired`. */
  readonly what: string;
  /** Which of the workload's own it happened to, as an owner is written. */
  readonly owner: string;
  readonly status: 'done' | 'failed';
  /** Other services are told of it; told again, it has the same id. */
  readonly newsId?: string;
  readonly facts: Readonly<Record<string, string | number>>;
}

/** What a repair mends: strays of an owner's keys; jobs that ended, that were left, that are ghosts, another program's or misplaced; closed owners, when forced; lines of slots; the list; news. */
export type Healed =
  | ('place' | 'dedup' | 'late' | 'done' | 'run')
  | (
      | 'ended'
      | 'left'
      | 'replaced'
      | 'ghost'
      | 'slot'
      | 'list'
      | 'adopted'
      | 'untold'
      | 'misplaced'
      | 'closed'
    );

/** Of a cancel what is known before its jobs are gone. */
type Cancelling = Pick<Order, 'cancelId' | 'owner' | 'job' | 'reason' | 'by' | 'why'>;

export type JournalListener = (fact: Fact) => void;

const SAME_ERROR_AGAIN_MS = 30_000;
/** A type of owner is a caller's word: of more of them nothing is said. */
const MOST_TYPES_SAID = 1_000;

/** Everything the lifecycle says, one method an event. Logs, metrics and events hang on it. */
@Injectable()
export class Journal {
  private readonly listeners: JournalListener[];
  private readonly teller: Teller | undefined;
  private readonly errorsSaid = new Map<string, number>();
  private readonly typesSaid = new Set<string>();

  constructor(options: LifecycleOptions) {
    this.listeners = [...(options.listeners ?? [])];
    this.teller = options.teller;
  }

  /** For a module whose own things follow what happens to jobs and owners in this process. */
  listen(listener: JournalListener): void {
    this.listeners.push(listener);
  }

  jobAccepted(job: JobFacts): void {
    this.announce({ event: 'job.accepted', ...job });
  }

  jobDeduplicated(job: JobFacts, outcome: 'skipped' | 'coalesced'): void {
    this.announce({ event: 'job.deduplicated', ...job, outcome });
  }

  /** It waits for a slot, or for its owner's record; no attempt is used up. */
  jobPutOff(job: JobFacts, why: string, forMs: number): void {
    this.announce({ event: 'job.put-off', ...job, why, forMs });
  }

  /** It ended without having been done: cancelled, expired, or skipped; at the gate, by a sweep, or a cancel's clean-up. */
  jobSkipped(job: JobFacts, endedAs: EndedAs, why: string, by?: SkippedBy): void {
    this.announce({ event: 'job.skipped', ...job, endedAs, why, ...(by && { by }) });
  }

  /** This run does not count any more: another one has taken its job over. */
  jobLost(job: JobFacts, why: string): void {
    this.announce({ event: 'job.lost', ...job, why });
  }

  /** How long after it was due; unknown for one that was tried before. */
  jobBegan(job: JobFacts, waitedMs: number | undefined): void {
    this.announce({ event: 'job.began', ...job, ...(waitedMs !== undefined && { waitedMs }) });
  }

  /** Its lifetime: since it was accepted. */
  jobCompleted(job: JobFacts, tookMs: number, lifetimeMs: number): void {
    this.announce({ event: 'job.completed', ...job, tookMs, lifetimeMs });
  }

  /** With a lifetime it failed for good; without, it is tried again. */
  jobFailed(job: JobFacts, tookMs: number, error: unknown, lifetimeMs?: number): void {
    const ending = lifetimeMs === undefined ? { final: false } : { final: true, lifetimeMs };
    this.announce({ event: 'job.failed', ...job, tookMs, why: reason(error), ...ending });
  }

  jobHandedBack(job: JobFacts, why: string): void {
    this.announce({ event: 'job.handed-back', ...job, why });
  }

  jobStalled(queue: string, jobId: string): void {
    this.announce({ event: 'job.stalled', queue, jobId });
  }

  /** What was cancelled, told in the moment it was, and by whoever takes it up from the dead; its jobs are still to go. */
  ownerCancelling({ cancelId, owner, job, reason: because, by, why }: Cancelling): void {
    const about = { cancelId, owner, ...(job !== undefined && { job }), reason: because, by, why };
    this.announce({ event: 'owner.cancelling', ...about });
  }

  /** What was cancelled, and what became of it. Answers, as all that is news, whether others are told. */
  ownerCancelled(receipt: Receipt): Promise<boolean> | undefined {
    return this.tell({ event: 'owner.cancelled', ...receipt });
  }

  /** A lost connection fails many times in the same way; that is said now and then, not each time. */
  queueError(queue: string, error: unknown): void {
    const why = reason(error);
    if (this.isNew(why)) this.announce({ event: 'queue.error', queue, why });
  }

  /** Its entry is there and its bytes are not. Said now and then, however often somebody asks for them. */
  artifactMissing(jobId: string, artifact: string): void {
    if (this.isNew(`${jobId} ${artifact}`)) this.announce({ event: 'artifact.missing', jobId, artifact });
  }

  /** Its owners count as unknown; nothing is ended because of it. */
  resolverFailed(type: string, asked: number, error: unknown): void {
    this.announce({ event: 'resolver.failed', type, asked, why: reason(error) });
  }

  /** Owners of that type have jobs, and no sweep ever asks about them. Said once. */
  resolverMissing(type: string): void {
    if (this.typesSaid.has(type) || this.typesSaid.size >= MOST_TYPES_SAID) return;
    this.typesSaid.add(type);
    const why = `Nobody here resolves owners of type "${type}": no sweep ends the jobs of one that is gone.`;
    const hint = `Provide a class with @ResolvesOwners('${type}'), or name the type in OWNER_RESOLVERS.`;
    this.announce({ event: 'resolver.missing', type, why: `${why} ${hint}` });
  }

  /** It has no job for this turn. */
  scheduleFailed(schedule: string, owner: string, error: unknown): void {
    this.announce({ event: 'schedule.failed', schedule, owner, why: reason(error) });
  }

  scheduleEnded(schedule: string, owner: string, why: string): void {
    this.announce({ event: 'schedule.ended', schedule, owner, why });
  }

  /** How a sweep ended, or why it stopped. */
  sweepEnded({ state, ...record }: SweepRecord): Promise<boolean> | undefined {
    if (state === 'asked' || state === 'running') return undefined;
    return this.tell({ event: `sweep.${state}`, ...record });
  }

  /** Once more to other services alone: the log has it. */
  tellAgain(fact: Fact): Promise<boolean> | undefined {
    return this.record(fact);
  }

  /** One thing that a sweep could do nothing with. Many that fail in the same way are told as one; the record has each. */
  sweepTrouble(sweep: SweepKind, what: string, error: unknown): void {
    const why = reason(error);
    if (this.isNew(`${sweep} ${why}`)) this.announce({ event: 'sweep.trouble', sweep, what, why });
  }

  /** Something that a process left half done was mended; the name says which. */
  entryHealed(what: Healed, name: string): void {
    this.announce({ event: 'entry.healed', what, name });
  }

  /** For a module's own things. */
  workload(fact: Omit<WorkloadFact, 'event'>): void {
    this.announce({ event: 'workload', ...fact });
  }

  workerStarted(queues: readonly string[], kinds: readonly string[]): void {
    this.announce({ event: 'worker.started', queues, kinds });
  }

  workerDraining(running: number): void {
    this.announce({ event: 'worker.draining', running });
  }

  workerDrained(tookMs: number, stillRunning: number): void {
    this.announce({ event: 'worker.drained', tookMs, stillRunning });
  }

  private isNew(trouble: string): boolean {
    const now = Date.now();
    for (const [said, at] of this.errorsSaid)
      if (now - at >= SAME_ERROR_AGAIN_MS) this.errorsSaid.delete(said);
    if (this.errorsSaid.has(trouble)) return false;
    this.errorsSaid.set(trouble, now);
    return true;
  }

  private announce(fact: Fact): void {
    void this.tell(fact);
  }

  private tell(fact: Fact): Promise<boolean> | undefined {
    for (const listener of this.listeners) attempt(listener, fact);
    return this.record(fact);
  }

  /** What a teller breaks over is not told. No promise but its own for what is no news: most facts are none. */
  private record(fact: Fact): Promise<boolean> | undefined {
    try {
      return this.teller?.record(fact)?.catch(untold);
    } catch (error) {
      return Promise.resolve(untold(error));
    }
  }
}

/** What happened has happened, whether or not somebody could write it down. */
function attempt(write: JournalListener, fact: Fact): void {
  try {
    write(fact);
  } catch (error) {
    warn(error);
  }
}

function untold(error: unknown): false {
  warn(error);
  return false;
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
