import { Injectable } from '@nestjs/common';
import type { JobsOptions, KeepJobs } from 'bullmq';
import type { Envelope } from '../kinds/envelope.js';
import { backstopOf, keepOf, type Measure } from '../kinds/keep.js';
import type { Kind } from '../kinds/kind.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import type { JobRequest } from './request.js';
import type { Reservation } from './reservation.js';

export interface NewJob {
  readonly name: string;
  readonly data: Envelope;
  readonly opts: JobsOptions & { jobId: string };
}

/** Makes of a request that has its places what BullMQ is given to keep. */
@Injectable()
export class NewJobs {
  private lastOrder = 0;

  constructor(private readonly lifecycle: LifecycleOptions) {}

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
    return { name: kind.name, data, opts: { ...options, ...this.keptOf(kind), jobId } };
  }

  /** Where jobs may leave artifacts those are removed first, by a sweep: BullMQ takes only what no sweep has come for. */
  private keptOf(kind: Kind): Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'> {
    const { artifacts, retention } = this.lifecycle;
    const { completed, failed } = keepOf(kind.keep, { ...LIFECYCLE_DEFAULTS.retention, ...retention });
    const isSwept = artifacts !== undefined && kind.artifacts;
    const given = (measure: Measure): KeepJobs => inSeconds(isSwept ? backstopOf(measure) : measure);
    return { removeOnComplete: given(completed), removeOnFail: given(failed) };
  }

  /** A place in line: when it was accepted, and within one ms the order in which this process was told so. */
  private orderOf(atMs: number, delayMs: number): number {
    this.lastOrder = Math.max(atMs * 1_000, this.lastOrder + 1);
    return this.lastOrder + delayMs * 1_000;
  }
}

function inSeconds({ ageMs, count }: Measure): KeepJobs {
  return { age: Math.ceil(ageMs / 1_000), count };
}
