import { Injectable } from '@nestjs/common';
import type { Removal } from '../history/removals.js';
import { digest, HISTORY_LINES, Keys } from '../keys.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { parseOwner } from '../kinds/owner.js';
import { News } from '../news/news.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import type { Plan } from '../schedules/schedule.book.js';
import { Schedules } from '../schedules/schedules.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { EmptyCancels } from './empty-cancels.js';
import { JobRemoval, type Cancelled } from './job.removal.js';
import type { Target } from './order.js';
import { readPlace, readPlaces, type Place } from './places.js';
import { Receipts, type Receipt } from './receipts.js';
import { Turns } from './turns.js';

const PAGE = 100;
/** So many pages at once: each asks the store for that many jobs, and others want an answer too. */
const PAGES_AT_ONCE = 4;

/**
 * What is to be tidied up after a cancel, found by the owner's index alone, a page at a time. Whoever cancels little does not
 * wait for the end of those that cancel much: they take turns for each page.
 */
@Injectable()
export class CleanUp {
  private readonly keys: Keys;
  private readonly historyKeepMs: number;
  private readonly pages = new Turns(PAGES_AT_ONCE);

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly removal: JobRemoval,
    private readonly receipts: Receipts,
    private readonly schedules: Schedules,
    private readonly kinds: KindRegistry,
    private readonly news: News,
    private readonly empties: EmptyCancels,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.historyKeepMs = options.receiptKeepMs ?? LIFECYCLE_DEFAULTS.receiptKeepMs;
  }

  async isPending(target: Target): Promise<boolean> {
    return (await this.scopeOf(target)) !== null;
  }

  /** One pass over what the cancel ended; whether nothing is left of it. */
  async pass(target: Target, closing: AbortSignal): Promise<boolean> {
    const scope = await this.scopeOf(target);
    if (scope === null) return true;
    const receipt = await this.receipts.about(target);
    const now = await this.store.now();
    const isLeft = scope.startsWith('j')
      ? await this.isOneLeft(scope.slice(1).split(' '), { receipt, upTo: 0, now })
      : await this.isOwnerLeft({ receipt, upTo: Number(scope), now }, closing);
    if (isLeft) return false;
    await this.finish(target);
    return true;
  }

  /** What is to be ended: up to which epoch, or which jobs; null when that is done. */
  private scopeOf({ owner, cancelId }: Target): Promise<string | null> {
    const pending = `${this.keys.ownerText(owner)}:cancels`;
    return this.store.call(() => this.store.redis.hget(pending, digest(cancelId)));
  }

  private async isOwnerLeft(cancelled: Cancelled, closing: AbortSignal): Promise<boolean> {
    const { owner } = cancelled.receipt;
    const record = this.keys.ownerText(owner);
    await this.schedules.removeOf(parseOwner(owner), cancelled.upTo, (plan) => this.note(plan, cancelled));
    let left = 0;
    let cursor = '0';
    do {
      const [next, fields] = await this.store.call(() =>
        this.store.redis.hscan(record, cursor, 'MATCH', 'j*', 'COUNT', PAGE),
      );
      cursor = next;
      const over = readPlaces(fields).filter(({ epoch }) => epoch <= cancelled.upTo);
      for (let at = 0; at < over.length && !closing.aborted; at += PAGE)
        left += await this.removeAll(over.slice(at, at + PAGE), cancelled);
      if (closing.aborted) return true;
    } while (cursor !== '0');
    return left > 0;
  }

  /** A schedule goes: in the receipt and the history before it does, as the jobs' history is. */
  private async note({ name, id, definition, owners }: Plan, { receipt, now }: Cancelled): Promise<void> {
    const { kind } = definition;
    const { cancelId, owner, reason, by, why } = receipt;
    const queue = this.kinds.has(kind) ? this.kinds.get(kind).queue : '?';
    const at = new Date(now).toISOString();
    const line: Removal = { id, queue, kind, owners, state: 'schedule', at, why, reason, by, cancelId };
    const args = [digest(cancelId), name, JSON.stringify(line), HISTORY_LINES, this.historyKeepMs];
    await runScript(this.store.redis, 'along', [this.keys.ownerText(owner)], args);
  }

  /** A job, and those below it in its flow. */
  private async isOneLeft(jobIds: readonly string[], cancelled: Cancelled): Promise<boolean> {
    const record = this.keys.ownerText(cancelled.receipt.owner);
    const fields = jobIds.map((id) => `j${id}`);
    const entries = await this.store.call(() => this.store.redis.hmget(record, ...fields));
    const places = jobIds.flatMap((id, i) => (entries[i] ? [readPlace(id, entries[i])] : []));
    const over = places.filter(({ epoch }) => epoch === 0);
    return over.length > 0 && (await this.removeAll(over, cancelled)) > 0;
  }

  private removeAll(places: readonly Place[], cancelled: Cancelled): Promise<number> {
    return this.pages.take(() => this.removal.removeAll(places, cancelled));
  }

  /**
   * Nothing is awaited between the event and the mark that the cancel is done: when the process dies in between, another
   * finishes the cancel and writes the event again. The receipt is bounded before both, whether or not the store takes them.
   */
  private async finish(target: Target): Promise<void> {
    const receipt = await this.receipts.read(target);
    if (receipt && endedNothing(receipt)) await this.empties.note(target);
    if (receipt) this.news.ownerCancelled({ ...receipt, done: true });
    const record = this.keys.ownerText(target.owner);
    const args = ['', digest(target.cancelId)];
    await this.store.call(() => runScript(this.store.redis, 'finish', [record], args));
  }
}

function endedNothing({ job, removed, aborted, schedules }: Receipt): boolean {
  return job === undefined && removed + aborted + schedules === 0;
}
