import { Injectable } from '@nestjs/common';
import type { JobsOptions } from 'bullmq';
import type { Envelope } from '../kinds/envelope.js';
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
    return { name: kind.name, data, opts: { ...options, jobId } };
  }

  /** A place in line: when it was accepted, and within one ms the order in which this process was told so. */
  private orderOf(atMs: number, delayMs: number): number {
    this.lastOrder = Math.max(atMs * 1_000, this.lastOrder + 1);
    return this.lastOrder + delayMs * 1_000;
  }
}
