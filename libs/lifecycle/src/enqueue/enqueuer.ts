import { durationMs, type Duration } from '#durations';
import { Injectable } from '@nestjs/common';
import type { JobsOptions } from 'bullmq';
import { z } from 'zod';
import { InvalidJobError, TooLargeError } from '../errors.js';
import { Journal } from '../journal.js';
import type { Envelope } from '../kinds/envelope.js';
import { newJobId } from '../kinds/ids.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import type { Kind, PayloadIn } from '../kinds/kind.js';
import { formatOwner, owner, type Owner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';

const MAX_OWNERS = 4;
const MAX_DELAY_MS = 365 * 86_400_000;
/** Where a job stands that asks for no priority: in the middle, so that others can pass it or let it pass. */
const MIDDLE_PRIORITY = 100;

export interface EnqueueOptions {
  /** One to four owners; the first is the primary. */
  readonly owners: readonly Owner[];
  readonly delay?: Duration;
  /** 1 is the most urgent, 200 the least; default 100. */
  readonly priority?: number;
}

/** What enqueue answers. */
export interface Ticket {
  readonly outcome: 'created';
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
}

/** Accepts a job, or refuses it before anything is written. */
@Injectable()
export class Enqueuer {
  private readonly maxPayloadBytes: number;

  constructor(
    options: LifecycleOptions,
    private readonly kinds: KindRegistry,
    private readonly queues: Queues,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {
    this.maxPayloadBytes = options.maxPayloadBytes ?? LIFECYCLE_DEFAULTS.maxPayloadBytes;
  }

  async enqueue<K extends Kind>(kind: K, payload: PayloadIn<K>, options: EnqueueOptions): Promise<Ticket> {
    this.kinds.get(kind.name);
    const owners = readOwners(options.owners);
    const envelope: Envelope = { v: 1, owners, body: this.readPayload(kind, payload) };
    const jobOptions = toJobOptions(kind, options);
    const id = newJobId(kind.queue);

    await this.store.call(() =>
      this.queues.get(kind.queue).add(kind.name, envelope, { ...jobOptions, jobId: id }),
    );

    this.journal.jobAccepted({ queue: kind.queue, kind: kind.name, jobId: id, owner: owners[0]! });
    return { outcome: 'created', id, kind: kind.name, queue: kind.queue, owners };
  }

  /** Checks a payload and keeps it as the caller gave it: the schema's own changes are made when the job runs. */
  private readPayload(kind: Kind, payload: unknown): unknown {
    const read = kind.payload.safeParse(payload);
    if (!read.success) {
      throw new InvalidJobError(`The payload of ${kind.name} is wrong:\n${z.prettifyError(read.error)}`);
    }
    const bytes = sizeAsJson(payload);
    if (bytes > this.maxPayloadBytes) throw new TooLargeError(bytes, this.maxPayloadBytes);
    return payload;
  }
}

function sizeAsJson(payload: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(payload) ?? '');
  } catch (error) {
    throw new InvalidJobError(`The payload cannot be written as JSON: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function readOwners(owners: readonly Owner[]): string[] {
  if (!Array.isArray(owners) || owners.length < 1 || owners.length > MAX_OWNERS) {
    throw new InvalidJobError(`A job has one to ${MAX_OWNERS} owners, as in ["trip:42"].`);
  }
  // Checked again: an owner may have been put together by hand.
  return [...new Set(owners.map((one) => formatOwner(owner(one?.type, one?.id))))];
}

function toJobOptions(kind: Kind, { delay = 0, priority = MIDDLE_PRIORITY }: EnqueueOptions): JobsOptions {
  const delayMs = readDelay(delay);
  if (!Number.isInteger(priority) || priority < 1 || priority > 2 * MIDDLE_PRIORITY) {
    throw new InvalidJobError(`priority is a whole number from 1 (most urgent) to ${2 * MIDDLE_PRIORITY}.`);
  }
  const keep = { age: Math.ceil(kind.keep.ageMs / 1000), count: kind.keep.count };
  return {
    // A priority always: it makes the job wait in a sorted set, from which removing one costs O(log n).
    priority,
    delay: delayMs,
    attempts: kind.attempts,
    removeOnComplete: keep,
    removeOnFail: keep,
    ...(kind.backoff && { backoff: { type: kind.backoff.type, delay: kind.backoff.delayMs } }),
  };
}

function readDelay(delay: Duration): number {
  try {
    const ms = durationMs(delay, 'delay');
    if (ms <= MAX_DELAY_MS) return ms;
  } catch (error) {
    throw new InvalidJobError((error as Error).message);
  }
  throw new InvalidJobError('delay is at most 365d.');
}
