import { Injectable } from '@nestjs/common';
import { SWEEP_KEEP_MS } from '../keys.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { OwnerDirectory } from './owner.directory.js';
import { SweepOvertaken } from './sweep.js';

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

  /** Those of whom `seen` says nothing were not gone. */
  write(owners: readonly string[], seen: ReadonlyMap<string, Sighting>, fence: number): Promise<void> {
    return this.forEachShard(owners, async (key, some) => {
      const fields = some.flatMap((owner) => {
        const { epoch, counter, since } = seen.get(owner) ?? {};
        return [owner, since === undefined ? '' : `${epoch}|${counter}|${since}`];
      });
      const args = [fence, SWEEP_KEEP_MS, ...fields];
      const [word] = (await runScript(this.store.redis, 'sight', [key], args)) as [string];
      if (word === 'lost') throw new SweepOvertaken();
    });
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
