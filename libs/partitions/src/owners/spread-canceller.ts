import { randomUUID } from 'node:crypto';
import {
  CancelConflictError,
  CancelLostError,
  DurabilityUnknownError,
  formatOwner,
  type CancelOptions,
  type Owner,
  type OwnerView,
  type Receipt,
} from '#core';
import { ANSWERS_WITHIN_MS, checkOptions, unkeptReceipt, untilDrained } from '#core/parts';
import type { Answer, Cancel, OwnersAt, Reopening, SeenOwner } from '#core/parts';
import { partitionNamedBy } from '../model/job-place.js';
import { hasMoved, seenIn } from './seen.js';
import type { SpreadCleanUp } from './spread-clean-up.js';
import type { SpreadReader } from './spread-reader.js';

/**
 * Cancels and reopens owners that have several partitions. The first partition is their home: it decides, and its receipt holds what the
 * others have to be told until they have been. If the process dies in between, any process finishes the cancel.
 */
export class SpreadCanceller {
  private readonly home: OwnersAt;
  private readonly others: readonly OwnersAt[];

  constructor(
    private readonly parts: readonly OwnersAt[],
    private readonly reader: SpreadReader,
    private readonly cleanUp: SpreadCleanUp,
  ) {
    [this.home, ...this.others] = parts as [OwnersAt, ...OwnersAt[]];
  }

  async cancel(owner: Owner, options: CancelOptions = {}, seen?: SeenOwner): Promise<Receipt> {
    checkOptions(options);
    const cancelId = options.cancelId ?? randomUUID();
    const cancel = { ...options, cancelId, name: this.home.store.nameOf(owner) };
    const seenThere = seen && seenIn(seen, this.parts.length);
    const records = await this.reader.records(owner);
    if (!(await this.isRepeated(owner, options.cancelId))) {
      if (seenThere && hasMoved(records, seenThere)) return unkeptReceipt(cancel, ['moved']);
      if (options.close === false && !records.some(Boolean)) return unkeptReceipt(cancel, ['empty']);
    }
    const { value, isHeld } = await this.home.store.hold(() => this.decide(cancel, seenThere, records));
    return this.confirm(await this.answer(cancel, value), isHeld);
  }

  /** Whether there was an earlier call with this cancelId. */
  private async isRepeated(owner: Owner, cancelId: string | undefined): Promise<boolean> {
    const receipt = cancelId === undefined ? undefined : await this.reader.receipt(cancelId);
    if (receipt && receipt.owner !== formatOwner(owner)) throw new CancelConflictError(receipt.cancelId);
    return receipt !== undefined;
  }

  /** The point of no return. */
  private decide(
    cancel: Cancel,
    seen: readonly SeenOwner[] | undefined,
    records: readonly (OwnerView | undefined)[],
  ): Promise<Answer> {
    const hadJobs = hadJobsIn(records);
    const home = {
      turn: 'home',
      spread: JSON.stringify({ seen, hadJobs, askedAt: cancel.askedAt }),
      hadJobs,
    };
    return this.home.canceller.step(cancel, seen?.[0], home);
  }

  /** One job, in the partition that has it, or that has the receipt of its cancel. */
  async cancelJob(queue: string, id: string, options: CancelOptions = {}): Promise<Receipt | undefined> {
    const { cancelId } = options;
    const receipts = cancelId === undefined ? [] : await this.reader.receipts(cancelId);
    const earlier = receipts.findIndex((receipt) => receipt !== undefined);
    const at = earlier === -1 ? partitionNamedBy(id) : earlier;
    for (const { canceller } of at === undefined ? this.parts : this.parts.slice(at, at + 1)) {
      const receipt = await canceller.cancelJob(queue, id, options);
      if (receipt) return receipt;
    }
    return undefined;
  }

  /** The cancels that were ordered before it are finished first: afterwards they would end new jobs. */
  async reopen(owner: Owner, { askedAt }: Reopening = {}): Promise<Answer> {
    const hadJobs = hadJobsIn(await this.reader.records(owner));
    const answer = await this.home.canceller.reopen(owner, { turn: 'home', hadJobs, askedAt });
    if (answer[0] === 'late') return answer;
    const turn = answer[2]!;
    await this.cleanUp.spreadAllOf(this.home.store.nameOf(owner));
    await Promise.all(this.others.map(({ canceller }) => canceller.reopen(owner, { turn, hadJobs })));
    return answer;
  }

  private async answer(cancel: Cancel, answer: Answer): Promise<Receipt> {
    const { cancelId, wait, waitFor } = cancel;
    const [word] = answer;
    if (word === 'late' || word === 'moved') return unkeptReceipt(cancel, answer);
    const hasSpread = await this.cleanUp.spread(cancelId);
    const pass = (untilMs: number) => this.cleanUp.pass(cancelId, untilMs);
    if (word === 'cancelled' || hasSpread) await pass(Date.now() + ANSWERS_WITHIN_MS);
    if (wait === 'drained') await untilDrained(pass, waitFor);
    const receipt = await this.reader.receipt(cancelId);
    if (!receipt && word !== 'empty') throw new CancelLostError(cancelId);
    return receipt ?? unkeptReceipt(cancel, answer);
  }

  /** The cancel is durable when it is in every partition. What was read there before the confirmation is covered by it. */
  private async confirm(receipt: Receipt, isHeld: boolean | undefined): Promise<Receipt> {
    if (isHeld === undefined || receipt.durable) return receipt;
    if (receipt.late) return { ...receipt, durable: isHeld };
    const { cancelId } = receipt;
    const others = await Promise.all(
      this.others.map(({ store, reader }) => store.hold(() => reader.receipt(cancelId))),
    );
    if (!isHeld || !others.every((other) => other.isHeld)) throw new DurabilityUnknownError(receipt);
    await Promise.all(this.parts.map(({ store }) => store.run('noteDurable', store.receiptOf(cancelId), [])));
    return { ...receipt, durable: true };
  }
}

/** An owner that was only closed or reopened has records as well. */
function hadJobsIn(records: readonly (OwnerView | undefined)[]): boolean {
  return records.some((record) => record !== undefined && record.wanted !== '0');
}
