import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { holdWrite, type Durability } from '../durability.js';
import { CancelConflictError, ClosedOwnersFullError, StoreUnavailableError } from '../errors.js';
import { Removals } from '../history/removals.js';
import { Journal } from '../journal.js';
import { CLOSED_KEEP_MS, digest, Keys } from '../keys.js';
import { openEnvelope } from '../kinds/envelope.js';
import { queueOfJobId } from '../kinds/ids.js';
import { formatOwner, type Owner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { CleanUps, MAY_STILL_COME_MS } from './clean-ups.js';
import { EmptyCancels } from './empty-cancels.js';
import { FoundJobs } from './found.jobs.js';
import { readOrder, type CancelOptions, type Order } from './order.js';
import { aboutOf, Receipts, type Receipt } from './receipts.js';

/** The same for a sweep, which counts what went and should not run ahead of it. */
const SWEEP_PATIENCE_MS = 60_000;
const TELLINGS_KEPT = 1_000;

export interface OwnerState {
  readonly owner: string;
  readonly state: 'open';
  readonly epoch: string;
}

/**
 * Ends everything of an owner, or one job. The script is the point of no return: what was enqueued before it never starts
 * again. Before it, it is noted that it is to be, so that whoever lives finishes it; after it, running jobs are told, and
 * the queues tidied up.
 */
@Injectable()
export class Canceller {
  private readonly keys: Keys;
  private readonly receiptKeepMs: number;
  private readonly durability: Durability | undefined;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly cleanUps: CleanUps,
    private readonly receipts: Receipts,
    private readonly removals: Removals,
    private readonly empties: EmptyCancels,
    private readonly queues: Queues,
    private readonly found: FoundJobs,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.receiptKeepMs = options.receiptKeepMs ?? LIFECYCLE_DEFAULTS.receiptKeepMs;
    this.durability = options.durability;
  }

  cancel(owner: Owner, options: CancelOptions = {}): Promise<Receipt> {
    return this.carryOut(readOrder(formatOwner(owner), undefined, options));
  }

  /** One job, on the same road, and those of its owner below it in its flow; nothing when there is none of that id. */
  async cancelJob(jobId: string, options: CancelOptions = {}): Promise<Receipt | undefined> {
    // An id is a caller's word: only a queue that is known here is looked into.
    if (!this.queues.has(queueOfJobId(jobId) ?? '')) return undefined;
    const found = await this.found.find(jobId);
    if (found.job) {
      const order = readOrder(openEnvelope(found.job).o[0]!, jobId, options);
      return await this.carryOut({ ...order, below: await this.found.below(found) });
    }
    // Asked again, because the first answer was lost: that of the cancel which removed it.
    const { cancelId } = (await this.removals.find(jobId)) ?? {};
    return cancelId === undefined ? undefined : await this.receipts.find(cancelId);
  }

  /**
   * An owner that its resolver said is gone, as it was when that was asked; nothing when something was enqueued for it, or
   * it was cancelled, since. It stays open: should it come back, its jobs are welcome. Asked again, it is the same cancel.
   * @internal
   */
  async cancelOrphan(
    owner: Owner,
    seen: { readonly epoch: string; readonly counter: string },
    reason: string,
  ): Promise<Receipt | undefined> {
    const name = formatOwner(owner);
    const cancelId = `orphan-${digest([name, seen.epoch, seen.counter].join('\0'))}`;
    const order = readOrder(name, undefined, { cancelId, reason, by: 'janitor', close: false });
    const receipt = await this.carryOut({ ...order, seen, why: 'orphan', patienceMs: SWEEP_PATIENCE_MS });
    return receipt.late ? undefined : receipt;
  }

  /** A closed owner takes jobs again; those from before stay dead. What happened until now does not cancel it any more. */
  async reopen(owner: Owner): Promise<OwnerState> {
    const name = formatOwner(owner);
    const args = ['', name, CLOSED_KEEP_MS, (await this.empties.isFull()) ? 1 : 0];
    const [word, epoch, isEmpty] = (await this.store.call(() =>
      runScript(this.store.redis, 'reopen', [this.keys.ownerText(name)], args),
    )) as ['open', string, string] | ['full', undefined, undefined];
    if (word === 'full') throw new ClosedOwnersFullError(name);
    await (isEmpty === '1' ? this.empties.noteReopened(name) : this.empties.uncount([digest(name)]));
    return { owner: name, state: 'open', epoch };
  }

  receipt(cancelId: string): Promise<Receipt | undefined> {
    return this.receipts.find(cancelId);
  }

  private async carryOut(order: Order): Promise<Receipt> {
    const meantAt = performance.now();
    const { value, isHeld } = await holdWrite(this.durability, async () => {
      if (!(await this.cleanUps.intend(order))) throw new CancelConflictError();
      return await this.end(order);
    });
    const [word, epoch] = value;
    if (word === 'full') {
      await this.cleanUps.forget(order);
      throw new ClosedOwnersFullError(order.owner);
    }
    if (word === 'late' || word === 'moved') {
      await this.cleanUps.forget(order);
      return lateReceipt(order, epoch ?? null, isHeld === true);
    }
    if (isHeld) await this.receipts.noteHeld(order);
    // This process may have been suspended.
    if (performance.now() - meantAt > MAY_STILL_COME_MS / 2) this.takeUp(order);
    const { tried, done } = this.cleanUps.follow(order);
    const patience = new AbortController();
    const isOver = pause(order.waitMs || order.patienceMs, undefined, {
      ref: false,
      signal: patience.signal,
    });
    await Promise.race([order.waitMs > 0 ? done : tried, isOver.catch(notNeeded)]);
    patience.abort();
    const receipt = await this.receipts.read(order);
    // The store answered the cancel, and went back behind it since: another server took its place, without this write.
    if (!receipt)
      throw new StoreUnavailableError('The store lost the cancel. Repeat it with the same cancelId.');
    return receipt;
  }

  /** The point of no return. Telling the workers is a hint, and its failure nobody's loss. */
  private async end(order: Order): Promise<string[]> {
    const { owner, job = '', below = [], close, occurredAtMs } = order;
    const record = this.keys.ownerText(owner);
    const { redis } = this.store;
    const closes = close ? ((await this.empties.isFull()) ? 'known' : '1') : '0';
    const args = [
      '',
      digest(order.cancelId),
      closes,
      owner,
      order.seen?.epoch ?? '',
      order.seen?.counter ?? '',
      this.receiptKeepMs,
      CLOSED_KEEP_MS,
      occurredAtMs ?? '',
      [job, ...below].join(' '),
      JSON.stringify(aboutOf(order)),
    ];
    let isAwaited = true;
    const answer = await this.store
      .call(async () => {
        const answered = (await runScript(redis, 'cancel', [record], args)) as string[];
        if (answered[0] === 'cancelled') this.journal.ownerCancelling(order);
        if (!isAwaited) this.takeUp(order);
        return answered;
      })
      .finally(() => (isAwaited = false));
    const [word, epoch, , ...runs] = answer;
    if (word === 'cancelled' && runs.length > 0) {
      for (const one of job === '' ? [''] : new Set(runs.map(jobOfRun))) this.tell(record, epoch!, one);
    }
    return answer;
  }

  private tell(record: string, epoch: string, job: string): void {
    const telling = [record, epoch, job, TELLINGS_KEPT];
    runScript(this.store.redis, 'tell', [`${this.keys.cancels}:told`], telling).catch((error: unknown) =>
      this.journal.queueError('cancels', error),
    );
  }

  /** It came to be so long after it was meant that others may have given up looking for it. */
  private takeUp(order: Order): void {
    this.cleanUps.intend(order).then(
      () => this.cleanUps.follow(order),
      (error: unknown) => this.journal.queueError('cancels', error),
    );
  }
}

function jobOfRun(run: string): string {
  return run.slice(0, run.lastIndexOf('|'));
}

function notNeeded(): void {
  // What was waited for came before the time was over.
}

function lateReceipt(
  { cancelId, owner, reason, by }: Order,
  epoch: string | null,
  durable: boolean,
): Receipt {
  return {
    cancelId,
    owner,
    epoch,
    reason,
    by,
    at: new Date().toISOString(),
    closed: false,
    removed: 0,
    aborted: 0,
    acknowledged: 0,
    ignored: 0,
    running: 0,
    byQueue: {},
    schedules: 0,
    done: true,
    durable,
    late: true,
  };
}
