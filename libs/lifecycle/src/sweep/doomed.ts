import { Injectable } from '@nestjs/common';
import { Keys, SWEEP_KEEP_MS } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';

/** An owner that is to go, as it was when that was found. */
export interface Doom {
  readonly owner: string;
  readonly epoch: string;
  readonly counter: string;
  readonly goneSince: number;
}

/** Whom a sweep has found to be gone: written down, so that they can be counted before the first one goes. */
@Injectable()
export class Doomed {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  async add(sweepId: string, dooms: readonly Doom[]): Promise<void> {
    if (dooms.length === 0) return;
    const key = this.key(sweepId);
    const fields = dooms.flatMap(({ owner, ...seen }) => [owner, JSON.stringify(seen)]);
    await this.store.call(async () => {
      await this.store.redis.hset(key, ...fields);
      await this.store.redis.pexpire(key, SWEEP_KEEP_MS);
    });
  }

  async page(sweepId: string, cursor: string, limit: number): Promise<{ dooms: Doom[]; next: string }> {
    const [next, found] = await this.store.call(() =>
      this.store.redis.hscan(this.key(sweepId), cursor, 'COUNT', limit),
    );
    const dooms: Doom[] = [];
    for (let i = 0; i < found.length; i += 2)
      dooms.push({ owner: found[i]!, ...(JSON.parse(found[i + 1]!) as Omit<Doom, 'owner'>) });
    return { dooms, next };
  }

  private key(sweepId: string): string {
    return `${this.keys.sweeps}:${sweepId}:doomed`;
  }
}
