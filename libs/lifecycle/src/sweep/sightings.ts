import { Injectable } from '@nestjs/common';
import { Store } from '../store.js';
import { OwnerDirectory } from './owner.directory.js';

/** When an owner was first seen to be gone, and as what. */
export interface Sighting {
  readonly epoch: string;
  readonly counter: string;
  readonly since: number;
}

/** Who was seen to be gone once: one answer alone ends nobody. Any other answer wipes it out. */
@Injectable()
export class Sightings {
  constructor(
    private readonly directory: OwnerDirectory,
    private readonly store: Store,
  ) {}

  async read(owners: readonly string[]): Promise<Map<string, Sighting>> {
    const found = new Map<string, Sighting>();
    await this.forEachShard(owners, async (key, some) => {
      const texts = await this.store.redis.hmget(key, ...some);
      for (const [i, text] of texts.entries()) {
        const [epoch, counter, since] = text?.split('|') ?? [];
        if (epoch && counter && since) found.set(some[i]!, { epoch, counter, since: Number(since) });
      }
    });
    return found;
  }

  note(seen: ReadonlyMap<string, Sighting>): Promise<void> {
    return this.forEachShard([...seen.keys()], async (key, some) => {
      const fields = some.flatMap((owner) => {
        const { epoch, counter, since } = seen.get(owner)!;
        return [owner, `${epoch}|${counter}|${since}`];
      });
      await this.store.redis.hset(key, ...fields);
    });
  }

  wipe(owners: readonly string[]): Promise<void> {
    return this.forEachShard(owners, async (key, some) => void (await this.store.redis.hdel(key, ...some)));
  }

  private async forEachShard(
    owners: readonly string[],
    work: (key: string, some: string[]) => Promise<void>,
  ): Promise<void> {
    const shards = new Map<string, string[]>();
    for (const owner of owners) {
      const key = `${this.directory.shardOf(owner)}:gone`;
      shards.set(key, [...(shards.get(key) ?? []), owner]);
    }
    await Promise.all([...shards].map(([key, some]) => this.store.call(() => work(key, some))));
  }
}
