import { Injectable } from '@nestjs/common';
import { OwnerClosedError, OwnerMovedError, QueueFullError, StoreUnavailableError } from '../errors.js';
import { Keys, PLACE_GRACE_MS } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { ScriptBatch, type Answer } from '../script-batch.js';
import { Endings } from '../settle/endings.js';
import { OwnerDirectory } from '../sweep/owner.directory.js';
import { Joined } from './joined.js';
import type { JobRequest } from './request.js';

/** Of each owner, in the order of the request; nothing, or '', where any will do. */
export type Epochs = readonly (string | undefined)[];

const PLAIN = { strategy: '', dedup: '' } as const;

/** The place a job has in its owners' indexes, or the twin that has it already. */
export interface Reservation {
  readonly outcome: 'new' | 'skip' | 'coalesce' | 'replace';
  /** The twin: pending for skip and coalesce, replaced for replace. */
  readonly twin: string | undefined;
  /** Of each owner, in the order of the request. */
  readonly epochs: readonly string[];
  /** When the job was accepted, by the store's clock. */
  readonly atMs: number;
  /** The same job was accepted before: this is a call sent again. */
  readonly isRepeat: boolean;
  /** When the first of the owners was asked, by `performance.now()`: its place is no older. */
  readonly askedAt: number;
}

interface OthersSay {
  readonly epochs: readonly string[];
  /** Those who gave the job a place that it did not have. */
  readonly made: readonly string[];
  readonly refusal: PromiseRejectedResult | undefined;
}

/** Gives jobs their place in the index of each of their owners, before they are added; or refuses. */
@Injectable()
export class Reservations {
  private readonly keys: Keys;
  private readonly reserving: ScriptBatch;
  private readonly held = new Joined<string | null>();
  private readonly kept = new Joined<(string | null)[]>();

  constructor(
    private readonly options: LifecycleOptions,
    private readonly endings: Endings,
    private readonly directory: OwnerDirectory,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.reserving = new ScriptBatch(options.redis, 'reserve', () => ['']);
  }

  /** For what was begun earlier, `expected` says which epoch each owner had then; it is refused when one has moved. */
  async reserve(request: JobRequest, jobId: string, expected: Epochs = []): Promise<Reservation> {
    if (request.strategy === 'replace') return this.withPrimaryLast(request, jobId, expected);
    const reservation = await this.withPrimary(request, jobId, expected);
    // Only a job that is to be added has a place with its other owners; its primary decides whether it is.
    if (reservation.outcome === 'skip' || reservation.outcome === 'coalesce') return reservation;
    if (request.owners.length === 1) return reservation;
    return this.withOthers(request, jobId, reservation, expected);
  }

  /** Gives the job its place with its other owners too. A new one that is refused there has none with any. */
  async withOthers(
    request: JobRequest,
    jobId: string,
    reservation: Reservation,
    expected: Epochs = [],
  ): Promise<Reservation> {
    const { epochs, refusal } = await this.askOthers(request, jobId, expected);
    if (!refusal) return { ...reservation, epochs: [...reservation.epochs, ...epochs] };
    // A twin is another request's job, which may be made yet.
    if (jobId !== reservation.twin) await this.giveUp(request, jobId);
    throw refusal.reason;
  }

  /** What a job would replace is over once its primary has answered; a refusal of another owner has to come before. */
  private async withPrimaryLast(request: JobRequest, jobId: string, expected: Epochs): Promise<Reservation> {
    const askedAt = performance.now();
    const { epochs, made, refusal } = await this.askOthers(request, jobId, expected);
    try {
      if (refusal) throw refusal.reason;
      const reservation = await this.withPrimary(request, jobId, expected);
      return { ...reservation, askedAt, epochs: [...reservation.epochs, ...epochs] };
    } catch (error) {
      // Only what this call made: an earlier one of the same job may be about to add it.
      await this.endings.end({ jobId, token: '', leaves: true, records: this.keys.records(made), dedup: '' });
      throw error;
    }
  }

  private async withPrimary(request: JobRequest, jobId: string, expected: Epochs): Promise<Reservation> {
    const askedAt = performance.now();
    const answer = await this.ask(request, 0, jobId, expected);
    const outcome = answer[0] as Reservation['outcome'];
    const at = outcome === 'new' ? 1 : 2;
    return {
      outcome,
      twin: outcome === 'new' ? undefined : answer[1],
      epochs: [answer[at]!],
      atMs: Number(answer[at + 1]),
      isRepeat: answer[at + 2] === 'again',
      askedAt,
    };
  }

  /** All of them answer before one's refusal counts: what comes late would stay behind. */
  private async askOthers(request: JobRequest, jobId: string, expected: Epochs): Promise<OthersSay> {
    const others = request.owners.slice(1);
    const answers = await Promise.allSettled(others.map((_, i) => this.ask(request, i + 1, jobId, expected)));
    const given = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined));
    return {
      epochs: given.map((answer) => answer?.[1] ?? ''),
      made: others.filter((_, i) => given[i] && given[i].at(-1) !== 'again'),
      refusal: answers.find((answer) => answer.status === 'rejected'),
    };
  }

  /** Whether that job is still the pending one of the request's key. */
  async isPending({ owners, dedup }: Pick<JobRequest, 'owners' | 'dedup'>, jobId: string): Promise<boolean> {
    const name = `${this.keys.ownerText(owners[0]!)}:dedup`;
    const held = await this.held.ask(`${name} ${dedup}`, () => this.options.redis.hget(name, dedup));
    return held?.endsWith(`|${jobId}`) ?? false;
  }

  /**
   * Whether a twin that was added is cancelled with none of its further owners: those are the request's own. Its primary
   * has just said that it is pending.
   */
  async isKept({ owners }: JobRequest, twin: string, expected: Epochs): Promise<boolean> {
    const further = owners.slice(1);
    const known = await Promise.all(further.map((owner) => this.readPlace(owner, twin)));
    for (const [i, [epoch, state]] of known.entries()) {
      if (state === 'closed') throw new OwnerClosedError(further[i]!);
      if (expected[i + 1] && expected[i + 1] !== epoch) throw new OwnerMovedError(further[i]!);
    }
    return known.every(([epoch, , place]) => epoch && place?.startsWith(`${epoch}|`));
  }

  private readPlace(owner: string, jobId: string): Promise<(string | null)[]> {
    const record = this.keys.ownerText(owner);
    return this.kept.ask(`${record} ${jobId}`, () => this.options.redis.hmget(record, 'e', 's', `j${jobId}`));
  }

  /** The job is not to be: its places are given up. */
  async giveUp({ owners, dedup }: Pick<JobRequest, 'owners' | 'dedup'>, jobId: string): Promise<void> {
    await this.endings.end({ jobId, token: '', leaves: true, records: this.keys.records(owners), dedup });
  }

  /** Of its owners the primary alone knows keys. */
  private ask(request: JobRequest, i: number, jobId: string, expected: Epochs): Promise<Answer> {
    const owner = request.owners[i]!;
    const { strategy, dedup } = i === 0 ? request : PLAIN;
    const hasPayload = strategy === 'replace' || strategy === 'coalesce';
    const payload = hasPayload ? (JSON.stringify(request.body) ?? 'null') : '';
    const limit = request.kind.maxPerOwner ?? '';
    const args = [owner, jobId, limit, strategy, dedup, payload, expected[i] ?? ''];
    return this.reserving.ask(this.keys.ownerText(owner), args).then((answer) => {
      const refusal = refusalOf(answer, owner);
      if (refusal) throw refusal;
      this.directory.note(owner);
      return answer;
    });
  }
}

function refusalOf([word, most]: Answer, owner: string): Error | undefined {
  switch (word) {
    case 'moved':
      return new OwnerMovedError(owner);
    case 'closed':
      return new OwnerClosedError(owner);
    case 'reaping':
      return new StoreUnavailableError('The job of that id is just being removed.');
    case 'full':
      return new QueueFullError(`Owner "${owner}"`, Number(most));
    default:
      return undefined;
  }
}

/** Whoever cleans the index may take the place for a dead producer's: the job must not be added any more. */
export function isTooLate({ askedAt }: Reservation): boolean {
  return performance.now() - askedAt > PLACE_GRACE_MS / 2;
}

export function tooSlow(): StoreUnavailableError {
  return new StoreUnavailableError('The store took too long for the job to be added safely.');
}
