import { Injectable } from '@nestjs/common';
import type { JobsOptions, KeepJobs } from 'bullmq';
import type { Envelope } from '../kinds/envelope.js';
import { backstopMs, keepOf, type Keep, type Measure } from '../kinds/keep.js';
import type { Kind } from '../kinds/kind.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import type { JobRequest } from './request.js';
import type { Reservation } from './reservation.js';

export interface NewJob {
  readonly name: string;
  readonly data: Envelope;
  readonly opts: JobsOptions & { jobId: string };
}

type Kept = Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'>;

/** Makes of a request that has its places what BullMQ is given to keep. */
@Injectable()
export class NewJobs {
  private lastOrder = 0;
  private readonly kept = new WeakMap<Kind, Kept>();

  constructor(
    private readonly lifecycle: LifecycleOptions,
    private readonly kinds: KindRegistry,
  ) {}

  make(request: JobRequest, jobId: string, { epochs, atMs }: Pick<Reservation, 'epochs' | 'atMs'>): NewJob {
    const { kind, owners, body, dedup, slot, expiresInMs, options } = request;
    const data: Envelope = {
      v: 1,
      o: owners,
      e: epochs,
      ...(expiresInMs !== undefined && { x: expiresInMs }),
      ...(dedup !== '' && { d: dedup }),
      ...(slot && { s: [...slot, this.orderOf(atMs, request.delayMs)] as const }),
      b: body,
    };
    return { name: kind.name, data, opts: { ...options, ...this.keptAs(kind), jobId } };
  }

  /** Found once for each kind: all that share its queue are known before the first job is made. */
  private keptAs(kind: Kind): Kept {
    let kept = this.kept.get(kind);
    if (!kept) {
      kept = this.keptOf(kind);
      this.kept.set(kind, kept);
    }
    return kept;
  }

  /**
   * Where a job of the queue may leave artifacts those are removed first, by a sweep: BullMQ takes only what no sweep has come
   * for. Of whatever kind the job is that ends, what it says holds for all of the queue that have ended.
   */
  private keptOf(kind: Kind): Kept {
    const sharing = [kind, ...this.kinds.all().filter(({ queue }) => queue === kind.queue)];
    const isSwept = this.lifecycle.artifacts !== undefined && sharing.some(({ artifacts }) => artifacts);
    const given = (state: keyof Keep): KeepJobs =>
      isSwept
        ? { age: inSeconds(backstopMs(sharing.map((each) => this.measureOf(each, state)))) }
        : exactly(this.measureOf(kind, state));
    const isAsked = sharing.some(({ keepWanted }) => keepWanted);
    return { removeOnComplete: isAsked ? false : given('completed'), removeOnFail: given('failed') };
  }

  private measureOf({ keep }: Kind, state: keyof Keep): Measure {
    return keepOf(keep, { ...LIFECYCLE_DEFAULTS.retention, ...this.lifecycle.retention })[state];
  }

  /** A place in line: when it was accepted, and within one ms the order in which this process was told so. */
  private orderOf(atMs: number, delayMs: number): number {
    this.lastOrder = Math.max(atMs * 1_000, this.lastOrder + 1);
    return this.lastOrder + delayMs * 1_000;
  }
}

function exactly({ ageMs, count }: Measure): KeepJobs {
  return { age: inSeconds(ageMs), count };
}

function inSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}
