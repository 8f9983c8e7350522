import { Injectable } from '@nestjs/common';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';

/**
 * Where walks through what is too long for one sweep are: each sweep goes a part of the way, the next goes on. Two that walk at
 * once look at some things twice, and at none never.
 */
@Injectable()
export class Walks {
  private readonly name: string;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.name = `${new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix).sweeps}:walks`;
  }

  async where(walk: string): Promise<string | undefined> {
    return (await this.store.call(() => this.store.redis.hget(this.name, walk))) ?? undefined;
  }

  /** Nothing: it begins anew. */
  async note(walk: string, place: string | undefined): Promise<void> {
    const { redis } = this.store;
    await this.store.call<unknown>(() =>
      place === undefined ? redis.hdel(this.name, walk) : redis.hset(this.name, walk, place),
    );
  }
}
