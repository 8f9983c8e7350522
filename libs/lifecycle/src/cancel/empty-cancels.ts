import { Injectable } from '@nestjs/common';
import { CLOSED_KEEP_MS, digest, EMPTY_RECEIPTS_KEPT, Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import type { Target } from './order.js';

const COUNT_AGAIN_MS = 1_000;

/**
 * Bounds what cancels leave behind of owners that never had a job: a caller may name any number of them. The newest keep
 * their receipts. A closed owner stays closed for as long as any other, so their number is bounded by a refusal.
 */
@Injectable()
export class EmptyCancels {
  private readonly cancels: string;
  private readonly keys: Keys;
  private readonly keepMs: number;
  private readonly mostClosed: number;
  private counted: { readonly isFull: Promise<boolean>; readonly at: number } | undefined;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.cancels = this.keys.cancels;
    this.keepMs = options.receiptKeepMs ?? LIFECYCLE_DEFAULTS.receiptKeepMs;
    this.mostClosed = options.maxClosed ?? LIFECYCLE_DEFAULTS.maxClosed;
  }

  /** Whether as many owners are kept as may be without ever having had a job: closed, or reopened. Counted once a second. */
  isFull(): Promise<boolean> {
    const now = performance.now();
    if (!this.counted || now - this.counted.at > COUNT_AGAIN_MS) {
      const isFull = this.count().then((closed) => closed >= this.mostClosed);
      isFull.catch(() => (this.counted = undefined));
      this.counted = { isFull, at: now };
    }
    return this.counted.isFull;
  }

  /** Called before the cancel is marked done, so that one whose process dies in between is noted by the next. */
  async note(target: Target): Promise<void> {
    const { redis } = this.store;
    const id = digest(target.cancelId);
    const record = this.keys.ownerText(target.owner);
    const found = await this.store.call(() => runScript(redis, 'empty', [record], [id]));
    if (found === 'used') return;
    await this.list(id, found === 'closed' ? digest(target.owner) : '');
  }

  /** An owner without a job was reopened: its record is kept as long as that of a closed one, and counts with them. */
  async noteReopened(owner: string): Promise<void> {
    await this.list('', digest(owner));
  }

  /** These owners have no record any more, or have had jobs. When the process dies before this, they count for 30 days. */
  async uncount(owners: readonly string[]): Promise<void> {
    await this.store.call(() => this.store.redis.zrem(this.keys.closedOwners, ...owners));
  }

  private async list(cancel: string, owner: string): Promise<void> {
    const args = ['', cancel, EMPTY_RECEIPTS_KEPT, this.keepMs, owner, CLOSED_KEEP_MS];
    const forgotten = await this.store.call(() =>
      runScript(this.store.redis, 'empties', [this.cancels], args),
    );
    await Promise.all((forgotten as string[]).map((text) => this.forget(JSON.parse(text) as Target)));
  }

  /** A receipt that is left behind when the process dies here expires by itself. */
  private async forget({ owner, cancelId }: Target): Promise<void> {
    const receipt = `${this.keys.ownerText(owner)}:cancel:${digest(cancelId)}`;
    await this.store.call(() => this.store.redis.unlink(receipt));
  }

  private count(): Promise<number> {
    const oldest = Date.now() - CLOSED_KEEP_MS;
    return this.store.call(() => this.store.redis.zcount(this.keys.closedOwners, oldest, '+inf'));
  }
}
