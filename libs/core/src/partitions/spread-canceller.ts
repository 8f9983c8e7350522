import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CancelConflictError, CancelLostError, DurabilityUnknownError } from '../model/errors.js';
import { durationMs } from '../model/duration.js';
import { formatOwner, type Owner } from '../model/owner.js';
import { checkOptions, type CancelOptions } from '../owners/cancel-options.js';
import { ANSWERS_WITHIN_MS, DEFAULT_WAIT, LOOKS_AGAIN_MS } from '../owners/canceller.js';
import { receiptOfEmpty, refuse, type Answer, type Cancel, type SeenOwner } from '../owners/canceller.js';
import type { OwnerRecord } from '../owners/owner-reader.js';
import type { OwnersAt } from '../owners/owners-at.js';
import { emptyReceipt, type Receipt } from '../owners/receipt.js';
import { partitionNamedBy } from './job-place.js';
import { mergeReceipts } from './merge-receipts.js';
import { seenIn } from './seen.js';

/** What the other partitions are told, as it stands in the receipt of the home partition. */
interface Intent {
  readonly cancel: Cancel;
  readonly turn: string;
  readonly seen?: readonly SeenOwner[] | undefined;
  readonly hadJobs?: boolean | undefined;
}

/**
 * Cancels and reopens owners that have several partitions. The first partition is their home: it decides, and its receipt holds what the
 * others have to be told until they have been. If the process dies in between, any process finishes the cancel.
 */
export class SpreadCanceller {
  private readonly home: OwnersAt;
  private readonly others: readonly OwnersAt[];

  constructor(private readonly parts: readonly OwnersAt[]) {
    [this.home, ...this.others] = parts as [OwnersAt, ...OwnersAt[]];
  }

  async cancel(owner: Owner, options: CancelOptions = {}, seen?: SeenOwner): Promise<Receipt> {
    checkOptions(options);
    const cancelId = options.cancelId ?? randomUUID();
    const cancel = { ...options, cancelId, name: this.home.store.nameOf(owner) };
    const seenThere = seen && seenIn(seen, this.parts.length);
    const records = await this.records(owner);
    const earlier = options.cancelId === undefined ? undefined : await this.earlier(cancelId, owner);
    if (!earlier && seenThere && hasMoved(records, seenThere))
      return emptyReceipt(cancelId, cancel.name, { late: true });
    if (!earlier && options.close === false && !records.some((record) => record))
      return emptyReceipt(cancelId, cancel.name, {});

    const { value, isHeld } = await this.home.store.hold(() => this.decide(cancel, seenThere, records));
    return this.confirm(await this.answer(cancel, value), isHeld);
  }

  /** The point of no return. */
  private async decide(
    cancel: Cancel,
    seen: readonly SeenOwner[] | undefined,
    records: readonly (OwnerRecord | undefined)[],
  ): Promise<Answer> {
    const hadJobs = hadJobsIn(records);
    const home = { turn: 'home', spread: JSON.stringify({ seen, hadJobs }), hadJobs };
    const answer = await this.home.canceller.step(cancel, seen?.[0], home);
    refuse(answer[0], cancel);
    return answer;
  }

  /** One job, in the partition that has it, or that has the receipt of its cancel. */
  async cancelJob(queue: string, id: string, options: CancelOptions = {}): Promise<Receipt | undefined> {
    const receipts = options.cancelId === undefined ? [] : await this.receipts(options.cancelId);
    const earlier = receipts.findIndex((receipt) => receipt !== undefined);
    const at = earlier === -1 ? partitionNamedBy(id) : earlier;
    for (const { canceller } of at === undefined ? this.parts : this.parts.slice(at, at + 1)) {
      const receipt = await canceller.cancelJob(queue, id, options);
      if (receipt) return receipt;
    }
    return undefined;
  }

  /** The cancels that were ordered before it are finished first: afterwards they would end new jobs. */
  async reopen(owner: Owner): Promise<string> {
    const hadJobs = hadJobsIn(await this.records(owner));
    const [, epoch, turn] = await this.home.canceller.reopen(owner, { turn: 'home', hadJobs });
    await this.spreadAll(this.home.store.nameOf(owner));
    await Promise.all(this.others.map(({ canceller }) => canceller.reopen(owner, { turn: turn!, hadJobs })));
    return epoch!;
  }

  /** Finishes the cancels that have not been made in all partitions, of one owner or of all. Answers their cancelIds. */
  async spreadAll(name?: string): Promise<string[]> {
    const cancelIds = await this.spreading();
    for (const cancelId of cancelIds) await this.spread(cancelId, name);
    return cancelIds;
  }

  spreading(): Promise<string[]> {
    return this.home.store.readRange(`${this.home.store.root}~spreading`, 0, -1);
  }

  receipts(cancelId: string): Promise<(Receipt | undefined)[]> {
    return Promise.all(this.parts.map(({ reader }) => reader.receipt(cancelId)));
  }

  /** The receipt of an earlier call with this cancelId. */
  private async earlier(cancelId: string, owner: Owner): Promise<Receipt | undefined> {
    const receipt = mergeReceipts(await this.receipts(cancelId));
    if (receipt && receipt.owner !== formatOwner(owner)) throw new CancelConflictError(cancelId);
    return receipt;
  }

  private records(owner: Owner): Promise<(OwnerRecord | undefined)[]> {
    return Promise.all(this.parts.map(({ reader }) => reader.record(owner)));
  }

  private async answer(cancel: Cancel, [word, ...rest]: Answer): Promise<Receipt> {
    const { cancelId, name } = cancel;
    if (word === 'late' || word === 'moved') return emptyReceipt(cancelId, name, { late: true });
    const hasSpread = await this.spread(cancelId);
    if (word === 'cancelled' || hasSpread) await this.clean(cancelId, Date.now() + ANSWERS_WITHIN_MS);
    if (cancel.wait === 'drained') await this.drain(cancelId, cancel);
    const receipt = mergeReceipts(await this.receipts(cancelId));
    if (receipt) return receipt;
    if (word !== 'empty') throw new CancelLostError(cancelId);
    return receiptOfEmpty(cancel, rest);
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

  /** Answers true if this call has made the cancel in the other partitions. */
  private async spread(cancelId: string, ofOwner?: string): Promise<boolean> {
    const { store } = this.home;
    const receipt = store.receiptOf(cancelId);
    const fields = await store.fieldsOf(receipt);
    if (ofOwner !== undefined && fields['owner'] !== ofOwner) return false;
    const intent = readIntent(cancelId, fields);
    const words = intent
      ? await Promise.all(this.others.map((part, i) => cancelIn(part, intent, i + 1)))
      : [];
    const isEmpty = intent !== undefined && words.every((word) => word === 'empty');
    // A receipt without it was spread by another process, or has expired.
    await store.run('spreadDone', receipt, [cancelId, isEmpty ? '1' : '']);
    return intent !== undefined;
  }

  private async clean(cancelId: string, untilMs: number): Promise<boolean> {
    const passes = await Promise.all(this.parts.map(({ cleanUp }) => cleanUp.pass(cancelId, '0', untilMs)));
    return passes.every(Boolean);
  }

  private async drain(cancelId: string, { waitFor = DEFAULT_WAIT }: CancelOptions): Promise<void> {
    const until = Date.now() + durationMs('waitFor', waitFor);
    while (!(await this.clean(cancelId, until)) && Date.now() < until) await pause(LOOKS_AGAIN_MS);
  }
}

function readIntent(cancelId: string, fields: Readonly<Record<string, string>>): Intent | undefined {
  if (fields['spread'] === undefined) return undefined;
  const { seen, hadJobs } = JSON.parse(fields['spread']) as Pick<Intent, 'seen' | 'hadJobs'>;
  const { owner: name = '', turn = '', reason = '', by = '', closed } = fields;
  return { cancel: { cancelId, name, reason, by, close: closed === '1' }, turn, seen, hadJobs };
}

/** A process that comes late repeats it: a receipt with this cancelId is there then, and nothing more is cancelled. */
async function cancelIn({ canceller }: OwnersAt, intent: Intent, at: number): Promise<string> {
  const { cancel, turn, seen, hadJobs } = intent;
  const [word] = await canceller.step(cancel, seen?.[at], { turn, hadJobs });
  if (word !== 'taken') return word;
  // The cancel of a job has used the name here since it was looked at: the owner is cancelled under another one.
  const another = { ...cancel, cancelId: `${cancel.cancelId}~${at}` };
  return (await canceller.step(another, seen?.[at], { turn, hadJobs }))[0];
}

function hasMoved(records: readonly (OwnerRecord | undefined)[], seen: readonly SeenOwner[]): boolean {
  return records.some(
    (record, i) => (record?.epoch ?? '-') !== seen[i]!.epoch || (record?.wanted ?? '-') !== seen[i]!.wanted,
  );
}

/** An owner that was only closed or reopened has records as well. */
function hadJobsIn(records: readonly (OwnerRecord | undefined)[]): boolean {
  return records.some((record) => record !== undefined && record.wanted !== '0');
}
