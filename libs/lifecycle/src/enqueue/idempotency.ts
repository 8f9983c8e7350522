import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { IdempotencyConflictError } from '../errors.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import type { Ticket } from './enqueuer.js';

const KEEP_MS = 86_400_000;

interface Memory {
  /** Digest of the request, so that a key is not used for another one. */
  readonly request: string;
  /** The id its job has, or will have: a call that is sent again while the first is under way makes the same job. */
  readonly jobId: string;
}

/** Remembers what was answered to a request that came with a key of its own. */
@Injectable()
export class Idempotency {
  private readonly keys: Keys;

  constructor(private readonly options: LifecycleOptions) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** The earlier answer; or the id under which the job is to be made, and when this is a repeat, may have been made. */
  async begin(
    key: string,
    request: unknown,
    newId: string,
  ): Promise<{ ticket: Ticket } | { jobId: string; isRepeat: boolean }> {
    const { redis } = this.options;
    const name = this.keys.idempotency(key);
    const memory: Memory = { request: fingerprint(request), jobId: newId };
    const isFirst = await redis.set(name, JSON.stringify(memory), 'PX', KEEP_MS, 'NX');
    if (isFirst) return { jobId: newId, isRepeat: false };

    const [known, answer] = await Promise.all([redis.get(name), redis.get(answerOf(name))]);
    const earlier = known ? (JSON.parse(known) as Memory) : memory;
    if (earlier.request !== memory.request) throw new IdempotencyConflictError();
    return answer
      ? { ticket: JSON.parse(answer) as Ticket }
      : { jobId: earlier.jobId, isRepeat: known !== null };
  }

  /** The answer, from now on; of several that were worked out at once, the first for all. */
  async end(key: string, ticket: Ticket): Promise<Ticket> {
    const { redis } = this.options;
    const name = answerOf(this.keys.idempotency(key));
    if (await redis.set(name, JSON.stringify(ticket), 'PX', KEEP_MS, 'NX')) return ticket;
    const first = await redis.get(name);
    return first ? (JSON.parse(first) as Ticket) : ticket;
  }
}

function answerOf(name: string): string {
  return `${name}:answer`;
}

function fingerprint(request: unknown): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('base64url');
}
