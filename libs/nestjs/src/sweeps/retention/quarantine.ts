import { Injectable } from '@nestjs/common';
import { MooringStore } from '../../store/mooring-store.js';

const PAGE = 100;
const KEPT_MS = 30 * 86_400_000;
const MOST_TRIES = 5;

/** A finished job that could not be removed in several sweeps, and why. */
export interface Quarantined {
  readonly jobId: string;
  readonly at: string;
  readonly why: string;
}

interface Failure {
  readonly tries: number;
  readonly at: number;
  readonly why: string;
}

/** Finished jobs that could not be removed. After five sweeps each is left alone until an operator forces it. */
@Injectable()
export class Quarantine {
  constructor(private readonly store: MooringStore) {}

  /** Which of these are in quarantine. */
  async among(jobIds: readonly string[]): Promise<ReadonlySet<string>> {
    const failures = await this.store.readFields<Failure>(this.failures, jobIds);
    return new Set(jobIds.filter((id) => (failures.get(id)?.tries ?? 0) >= MOST_TRIES));
  }

  async fail(jobId: string, why: string, nowMs: number): Promise<void> {
    const before = await this.store.readFields<Failure>(this.failures, [jobId]);
    const tries = (before.get(jobId)?.tries ?? 0) + 1;
    const failure: Failure = { tries, at: nowMs, why };
    await this.store.write([
      ['HSET', this.failures, jobId, JSON.stringify(failure)],
      ['PEXPIRE', this.failures, KEPT_MS],
      ...(tries >= MOST_TRIES ? [['ZADD', this.key, 'NX', nowMs, jobId]] : []),
    ]);
  }

  async forget(jobIds: readonly string[]): Promise<void> {
    if (jobIds.length === 0) return;
    await this.store.write([
      ['HDEL', this.failures, ...jobIds],
      ['ZREM', this.key, ...jobIds],
    ]);
  }

  async count(): Promise<number> {
    return (await this.store.client).zcard(this.key);
  }

  /** The oldest first; `next` is null after the last page. */
  async page(from: number): Promise<{ jobs: Quarantined[]; next: number | null }> {
    const found = await (await this.store.client).zrange(this.key, from, from + PAGE);
    const ids = found.slice(0, PAGE);
    const failures = await this.store.readFields<Failure>(this.failures, ids);
    const jobs = ids.map((jobId) => {
      const { at = 0, why = 'unknown' } = failures.get(jobId) ?? {};
      return { jobId, at: new Date(at).toISOString(), why };
    });
    return { jobs, next: found.length > PAGE ? from + PAGE : null };
  }

  private get key(): string {
    return this.store.key('quarantine');
  }

  private get failures(): string {
    return this.store.key('failures');
  }
}
