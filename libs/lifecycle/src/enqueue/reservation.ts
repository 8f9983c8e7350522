import { Injectable } from '@nestjs/common';
import { OwnerClosedError, OwnerMovedError, QueueFullError } from '../errors.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { ScriptBatch, type Answer } from '../script-batch.js';
import { Endings } from '../settle/endings.js';
import { Joined } from './joined.js';
import type { JobRequest } from './request.js';

/** Of each owner, in the order of the request; nothing, or '', where any will do. */
type Epochs = readonly (string | undefined)[];

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
}

/** Gives jobs their place in the index of each of their owners, before they are added; or refuses. */
@Injectable()
export class Reservations {
  private readonly keys: Keys;
  private readonly reserving: ScriptBatch;
  private readonly held = new Joined<string | null>();

  constructor(
    private readonly options: LifecycleOptions,
    private readonly endings: Endings,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.reserving = new ScriptBatch(options.redis, 'reserve', () => ['']);
  }

  /** For what was begun earlier, `expected` says which epoch each owner had then; it is refused when one has moved. */
  async reserve(request: JobRequest, jobId: string, expected: Epochs = []): Promise<Reservation> {
    const first = await this.ask(request, 0, jobId, expected);
    const outcome = first[0] as Reservation['outcome'];
    const at = outcome === 'new' ? 1 : 2;
    const reservation: Reservation = {
      outcome,
      twin: outcome === 'new' ? undefined : first[1],
      epochs: [first[at]!],
      atMs: Number(first[at + 1]),
      isRepeat: first[at + 2] === 'again',
    };
    // Only a job that is to be added has a place with its other owners; its primary decides whether it is.
    if (outcome === 'skip' || outcome === 'coalesce') return reservation;
    return await this.withOthers(request, jobId, reservation, expected);
  }

  /** Gives the job its place with its other owners too. A new one that is refused there has none with any. */
  async withOthers(
    request: JobRequest,
    jobId: string,
    reservation: Reservation,
    expected: Epochs = [],
  ): Promise<Reservation> {
    const [, ...others] = request.owners;
    if (others.length === 0) return reservation;
    // All of them answer before one's refusal counts: what comes late would stay behind.
    const answers = await Promise.allSettled(others.map((_, i) => this.ask(request, i + 1, jobId, expected)));
    const refusal = answers.find((answer) => answer.status === 'rejected');
    if (refusal) {
      // A twin is another request's job, which may be made yet.
      if (jobId !== reservation.twin) await this.giveUp(request, jobId);
      throw refusal.reason;
    }
    const given = answers as PromiseFulfilledResult<Answer>[];
    return { ...reservation, epochs: [...reservation.epochs, ...given.map(({ value }) => value[1]!)] };
  }

  /** Whether that job is still the pending one of the request's key. */
  async isPending({ owners, dedup }: JobRequest, jobId: string): Promise<boolean> {
    const name = `${this.keys.ownerText(owners[0]!)}:dedup`;
    const held = await this.held.ask(`${name} ${dedup}`, () => this.options.redis.hget(name, dedup));
    return held?.endsWith(`|${jobId}`) ?? false;
  }

  /** The job is not to be: its places are given up. */
  async giveUp({ owners, dedup }: Pick<JobRequest, 'owners' | 'dedup'>, jobId: string): Promise<void> {
    await this.endings.end({ jobId, token: '', leaves: true, owners, dedup });
  }

  /** Of its owners the primary alone knows keys. */
  private async ask(request: JobRequest, i: number, jobId: string, expected: Epochs): Promise<Answer> {
    const owner = request.owners[i]!;
    const { strategy, dedup } = i === 0 ? request : PLAIN;
    const hasPayload = strategy === 'replace' || strategy === 'coalesce';
    const payload = hasPayload ? (JSON.stringify(request.body) ?? 'null') : '';
    const limit = request.kind.maxPerOwner ?? '';
    const args = [owner, jobId, limit, strategy, dedup, payload, expected[i] ?? ''];
    const answer = await this.reserving.ask(this.keys.ownerText(owner), args);
    if (answer[0] === 'moved') throw new OwnerMovedError(owner);
    if (answer[0] === 'closed') throw new OwnerClosedError(owner);
    if (answer[0] === 'full') throw new QueueFullError(`Owner "${owner}"`, Number(answer[1]));
    return answer;
  }
}
