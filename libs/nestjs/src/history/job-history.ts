import { Owners, type Receipt } from '#core';
import { unescapeText } from '#core/parts';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Job, JobState } from 'bullmq';
import { Journal } from '../journal/journal.js';
import { MooringStore } from '../store/mooring-store.js';
import { JobLog, type JobEvent } from './job-log.js';
import { entriesOf, ofEarlierRun, timelineOf, type TimelineEntry } from './timeline.js';

/** What is remembered of a job that was removed. */
export interface RemovedJob {
  readonly kind: string;
  readonly owners: readonly string[];
  /** Why, in one word: `cancelled`, `orphan`, `expired`, `skipped`, `replaced`, `removed`, `retention`. */
  readonly reason: string;
  /** The state it was in; `active` if it had come to a worker and did not begin. */
  readonly was: string;
  /** '' if no cancel removed it. */
  readonly cancelId: string;
  /** How many attempts had ended before. */
  readonly attempts: number;
  /** Who removed it, if a sweep or an operation did. */
  readonly by?: string;
  /** The operation that removed it, as in `operation op-…`. */
  readonly operation?: string;
  /** How it ended, in one word and in a sentence. */
  readonly state: 'cancelled' | 'expired' | 'skipped' | 'removed';
  readonly words: string;
  readonly timeline: readonly TimelineEntry[];
}

/** The same with the times of its beginning and end, ms. */
export interface RememberedJob extends RemovedJob {
  readonly acceptedAt: number;
  readonly beganAt: number | undefined;
  readonly removedAt: number;
}

/** Receipts that were read already, by cancelId. */
export type KnownReceipts = Map<string, Promise<Receipt | undefined>>;

/** The cancels of an orphan sweep have ids that begin so. */
export const ORPHAN_CANCEL = 'orphan-';
/** What a sweep does is done by the janitor, whichever process that is. */
const SWEEPER = 'janitor';

type Line = [string, string, string, string, string, string, string, string, string, string, ...string[]];

/** As many as the history of an owner has. */
const MOST_TOLD = 1_000;

/** What happened to jobs: to those that are there, and to the newest of those that were removed. */
@Injectable()
export class JobHistory implements OnModuleInit {
  constructor(
    private readonly store: MooringStore,
    @Inject(Owners) private readonly owners: Owners,
    private readonly log: JobLog,
    private readonly journal: Journal,
  ) {
    journal.listen((fact) => {
      if (fact.event === 'owner.cancelled' && fact.removed > 0)
        this.tellRemoved(fact).catch((error: unknown) => journal.trouble('What a cancel has removed', error));
    });
  }

  /** From now on the steps of all processes remember what they remove. A store that is away does not hold up the start. */
  onModuleInit(): void {
    this.store.backend.client
      .then((client) => {
        // A store that comes back may have lost everything.
        client.on('ready', () => void this.beginToRemember().catch(() => undefined));
        return this.beginToRemember();
      })
      .catch((error: unknown) => this.journal.trouble('The memory of removed jobs', error));
  }

  /** The oldest event comes first. */
  async timelineOf(job: Job, state: JobState): Promise<TimelineEntry[]> {
    return timelineOf(job, state, (await this.log.read(job.queueName, job.id!)).events);
  }

  async findRemoved(queue: string, id: string): Promise<RemovedJob | undefined> {
    const line = await this.store.call<string | null>('hget', `${this.store.root}~gone~${queue}`, id);
    return line === null ? undefined : this.recall(line);
  }

  /** The same of many jobs of a queue, in their order. */
  async findAllRemoved(queue: string, ids: readonly string[]): Promise<(RememberedJob | undefined)[]> {
    if (ids.length === 0) return [];
    const key = `${this.store.root}~gone~${queue}`;
    const lines = await this.store.call<(string | null)[]>('hmget', key, ...ids);
    const receipts: KnownReceipts = new Map();
    return Promise.all(lines.map(async (line) => (line === null ? undefined : this.recall(line, receipts))));
  }

  /** A cancel has removed waiting jobs before it answered. A job that had come to a worker is told of there. */
  private async tellRemoved({ owner, cancelId, removed, reason: why, by }: Receipt): Promise<void> {
    const entries = await this.owners.history(owner, 0, Math.min(removed, MOST_TOLD));
    for (const { queue, id: jobId } of entries) {
      const job = await this.findRemoved(queue, jobId);
      if (job?.state !== 'removed' || job.cancelId !== cancelId) continue;
      const facts = { queue, jobId, kind: job.kind, owner: job.owners[0] ?? '' };
      this.journal.tell({ event: 'job.cancelled', ...facts, why, by });
    }
  }

  private beginToRemember(): Promise<unknown> {
    return this.store.call('set', `${this.store.root}~remembers-jobs`, '1');
  }

  /** @param line as `noteGone` of the core writes it */
  async recall(line: string, receipts: KnownReceipts = new Map()): Promise<RememberedJob> {
    const [at, noted, was, owners, cancelId, kind, acceptedAt, beganAt, attempts, log, ...whys] = line.split(
      '\n',
    ) as Line;
    const [why, reason] = [whys.join('\n'), cancelId.startsWith(ORPHAN_CANCEL) ? 'orphan' : noted];
    const [state, made] = [stateOf(reason, was), Number(attempts || 0)];
    const words = await this.wordsFor(reason, was, why, () => this.receiptOf(cancelId, receipts));
    const end: JobEvent = { at: Number(at), event: state, why: words };
    const earlier = (JSON.parse(log || '[]') as JobEvent[]).flatMap(ofEarlierRun);
    const life: JobEvent[] = [{ at: Number(acceptedAt || at), event: 'accepted' }, ...earlier];
    if (was === 'running') {
      const attempt = made + 1;
      life.push(
        { at: Number(beganAt || at), event: 'began', attempt },
        { at: Number(at), event: 'aborted', attempt },
      );
    }
    const cameToWorker = was === 'running' || was === 'active';
    const [, operation, by] = /^(operation \S+) by ([^]+)$/.exec(reason === 'removed' ? why : '') ?? [];
    const isSwept = reason === 'retention' || (reason === 'expired' && !cameToWorker);
    return {
      kind: kind || '?',
      owners: owners === '' ? [] : owners.split('|').map(unescapeText),
      reason,
      was,
      cancelId,
      attempts: made,
      ...(isSwept && { by: SWEEPER }),
      ...(operation && by && { operation, by }),
      state,
      words,
      timeline: entriesOf(cameToWorker || earlier.length > 0 ? [...life, end] : [end]),
      acceptedAt: Number(acceptedAt || at),
      beganAt: beganAt === '' ? undefined : Number(beganAt),
      removedAt: Number(at),
    };
  }

  private async receiptOf(cancelId: string, known: KnownReceipts): Promise<Receipt | undefined> {
    if (cancelId === '') return undefined;
    const receipt = known.get(cancelId) ?? this.owners.receipt(cancelId);
    known.set(cancelId, receipt);
    return receipt;
  }

  /** As in `cancelled by ops: trip called off (it was delayed)`. */
  private async wordsFor(
    reason: string,
    was: string,
    why: string,
    receiptOf: () => Promise<Receipt | undefined>,
  ): Promise<string> {
    if (reason === 'replaced') return 'replaced by newer job';
    if (reason === 'expired') return why || 'it did not start in time';
    if (reason === 'skipped') return why;
    if (was === 'running') return 'its owner was cancelled while it ran';
    if (was === 'active') return 'its owner was cancelled';
    const receipt = await receiptOf();
    const because = receipt?.reason || why;
    const by = reason === 'retention' ? SWEEPER : receipt?.by;
    return `${reason}${by ? ` by ${by}` : ''}${because && `: ${because}`} (it was ${was})`;
  }
}

function stateOf(reason: string, was: string): RemovedJob['state'] {
  if (reason === 'expired' || reason === 'skipped') return reason;
  return reason === 'replaced' || was === 'running' || was === 'active' ? 'cancelled' : 'removed';
}
