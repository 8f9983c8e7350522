import { Injectable } from '@nestjs/common';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';

/** A job that could not be removed, however often it was tried, and why. */
export interface Quarantined {
  readonly jobId: string;
  readonly at: string;
  readonly why: string;
}

const PAGE = 100;

/** Jobs that a sweep leaves alone until an operator forces it: they stay, and so does what they left behind. */
@Injectable()
export class Quarantine {
  private readonly key: string;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.key = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix).quarantine;
  }

  /** The reason first: what is listed has one. Without one it keeps that which it has. */
  async add(jobId: string, why?: string): Promise<void> {
    const now = await this.store.now();
    await this.store.call(async () => {
      if (why !== undefined) await this.store.redis.hset(`${this.key}:why`, jobId, why);
      await this.store.redis.zadd(this.key, 'NX', now, jobId);
    });
  }

  async remove(jobId: string): Promise<void> {
    await this.store.call(async () => {
      // Most that are removed never were here.
      if ((await this.store.redis.zrem(this.key, jobId)) > 0)
        await this.store.redis.hdel(`${this.key}:why`, jobId);
    });
  }

  count(): Promise<number> {
    return this.store.call(() => this.store.redis.zcard(this.key));
  }

  /** The oldest first; null is the position after the last. */
  async page(from: number): Promise<{ jobs: Quarantined[]; next: number | null }> {
    const found = await this.store.call(() =>
      this.store.redis.zrange(this.key, String(from), String(from + PAGE), 'WITHSCORES'),
    );
    const ids = found.filter((_, i) => i % 2 === 0).slice(0, PAGE);
    const whys =
      ids.length > 0 ? await this.store.call(() => this.store.redis.hmget(`${this.key}:why`, ...ids)) : [];
    const jobs = ids.map((jobId, i) => ({
      jobId,
      at: new Date(Number(found[2 * i + 1])).toISOString(),
      why: whys[i] ?? 'unknown',
    }));
    return { jobs, next: found.length > 2 * PAGE ? from + PAGE : null };
  }
}
