import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { ScriptBatch } from '../script-batch.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { SHARDS, shardOf } from './shards.js';

/** For so long at least, and three times as long at most, a process that has listed an owner does not list it again. */
const LISTED_LATELY_MS = 30_000;
/** Of how many it remembers that, in each of two ages. */
const REMEMBERED = 10_000;
/** How long an owner has had no job before it may leave: longer than anybody remembers having listed it. */
export const IDLE_MS = 10 * LISTED_LATELY_MS;

/** Where a reader of the list is: after which owner of which part. */
export interface ListPlace {
  readonly shard: number;
  readonly after: string;
}

/**
 * The list of owners that have jobs, for whoever must look at them all. An owner is listed when it has got a place for a
 * job, and leaves when it has had none for long. Both ways round: who lists it has its place already, and who strikes it
 * off looks for places after he has said that he will, and does not if it was listed again since.
 */
@Injectable()
export class OwnerDirectory {
  private readonly keys: Keys;
  private readonly listing: ScriptBatch;
  /** Two ages, of which the older one is forgotten as a whole: no owner needs a time or an order of its own. */
  private lately = new Set<string>();
  private before = new Set<string>();
  private turnedAt = 0;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.listing = new ScriptBatch(options.redis, 'list');
  }

  /** After it got a place for a job. Nobody waits for this: one that is not listed is found by the repair of the list. */
  note(owner: string): void {
    if (this.isRemembered(owner)) return;
    this.lately.add(owner);
    this.listing.ask(this.shardOf(owner), [owner]).catch((error: unknown) => {
      this.lately.delete(owner);
      this.before.delete(owner);
      this.journal.queueError('owners', error);
    });
  }

  /** The same, for one that waits for it. */
  async list(owner: string): Promise<void> {
    await this.store.call(() => this.listing.ask(this.shardOf(owner), [owner]));
  }

  /** Which of them are not listed. */
  async unlisted(owners: readonly string[]): Promise<string[]> {
    const scores = await Promise.all(
      owners.map((owner) => this.store.call(() => this.store.redis.zscore(this.shardOf(owner), owner))),
    );
    return owners.filter((_owner, i) => scores[i] === null);
  }

  /** The next so many owners, in a lasting order; no place behind the last ones. */
  async page(from: ListPlace | undefined, limit: number): Promise<{ owners: string[]; next?: ListPlace }> {
    let { shard, after } = from ?? { shard: 0, after: '' };
    const owners: string[] = [];
    for (; shard < SHARDS; shard += 1, after = '') {
      const most = limit - owners.length;
      const found = await this.store.call(() =>
        this.store.redis.zrangebylex(
          this.keys.owners(shard),
          after ? `(${after}` : '-',
          '+',
          'LIMIT',
          0,
          most,
        ),
      );
      owners.push(...found);
      if (found.length === most) return { owners, next: { shard, after: found.at(-1)! } };
    }
    return { owners };
  }

  async size(): Promise<number> {
    const shards = Array.from({ length: SHARDS }, (_, shard) => this.keys.owners(shard));
    const sizes = await this.store.call(() => Promise.all(shards.map((key) => this.store.redis.zcard(key))));
    return sizes.reduce((total, size) => total + size, 0);
  }

  /** Takes owners off the list of which `isIdle` says, once more, that they have no jobs. */
  async strike(owners: readonly string[], isIdle: (owner: string) => Promise<boolean>): Promise<void> {
    const word = randomBytes(9).toString('base64url');
    await Promise.all(
      owners.map(async (owner) => {
        const shard = this.shardOf(owner);
        await this.store.call(() => this.store.redis.hset(`${shard}:leaving`, owner, word));
        const args = [owner, word, (await isIdle(owner)) ? 1 : 0];
        await this.store.call(() => runScript(this.store.redis, 'unlist', [shard], args));
      }),
    );
  }

  /** The part of the list that an owner is in. */
  shardOf(owner: string): string {
    return this.keys.owners(shardOf(owner));
  }

  private isRemembered(owner: string): boolean {
    const age = performance.now() - this.turnedAt;
    if (age > LISTED_LATELY_MS || this.lately.size >= REMEMBERED) {
      this.before = age > 2 * LISTED_LATELY_MS ? new Set() : this.lately;
      this.lately = new Set();
      this.turnedAt += age;
    }
    return this.lately.has(owner) || this.before.has(owner);
  }
}
