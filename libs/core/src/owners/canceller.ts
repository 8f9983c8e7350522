import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  CancelConflictError,
  CancelLostError,
  ClosedOwnersFullError,
  DurabilityUnknownError,
  InvalidJobError,
} from '../model/errors.js';
import { durationMs } from '../model/duration.js';
import { unescapeText } from '../scripts/escape.js';
import type { Owner } from '../model/owner.js';
import { checkOptions, type CancelOptions } from './cancel-options.js';
import type { CleanUp } from './clean-up.js';
import { emptyReceipt, readReceipt, type Receipt } from './receipt.js';
import type { OwnerStore } from './owner-store.js';

/** With very many jobs the clean-up goes on after the answer. */
export const ANSWERS_WITHIN_MS = 1_000;
export const LOOKS_AGAIN_MS = 50;
export const DEFAULT_WAIT = '30s';

/** What the caller saw of an owner: an entry since makes its decision void. */
export interface SeenOwner {
  readonly epoch: string;
  readonly wanted: string;
}

/** How long receipts are kept, and how many owners may be closed without ever having had a job. */
export interface CancelLimits {
  readonly receiptKeepMs: number;
  readonly maxClosed: number;
}

export interface Cancel extends CancelOptions {
  readonly cancelId: string;
  /** The owner as it stands in keys. */
  readonly name: string;
}

/** With several partitions: the order of changes to an owner, and what the others have to be told. */
export interface Turn {
  /** `home` in the home partition, which answers the number that the others are given. */
  readonly turn: string;
  readonly spread?: string;
  /** The owner has jobs in another partition, or had some: it is not one of those that `maxClosed` bounds. */
  readonly hadJobs?: boolean | undefined;
}

/** What the script answered: a word; with `cancelled` the cursor of the clean-up, with `empty` the epoch and the time. */
export type Answer = readonly [word: string, ...rest: string[]];

/** Cancels owners and single jobs. The script is the point of no return; what follows it any process can finish. */
export class Canceller {
  constructor(
    private readonly store: OwnerStore,
    private readonly cleanUp: CleanUp,
    private readonly limits: CancelLimits,
  ) {}

  async cancel(owner: Owner, options: CancelOptions = {}, seen?: SeenOwner): Promise<Receipt> {
    checkOptions(options);
    const { cancelId = randomUUID() } = options;
    const cancel = { ...options, cancelId, name: this.store.nameOf(owner) };
    const { value, isHeld } = await this.store.hold(async () => {
      const answer = await this.step(cancel, seen);
      refuse(answer[0], cancel);
      return answer;
    });
    const [word, ...rest] = value;
    return this.confirm(await this.answer(word, cancel, rest), isHeld);
  }

  /** The point of no return. */
  step(
    cancel: Cancel,
    seen?: SeenOwner,
    { turn, spread = '', hadJobs }: Turn = { turn: '' },
  ): Promise<Answer> {
    const { name, cancelId, reason = '', by = '', close = true, happenedAt = '' } = cancel;
    return this.store.run('cancel', this.store.recordOf(name), [
      name,
      cancelId,
      close ? '1' : '',
      reason,
      by,
      this.limits.receiptKeepMs,
      happenedAt,
      seen?.epoch ?? '',
      seen?.wanted ?? '',
      hadJobs ? '' : this.limits.maxClosed,
      turn,
      spread,
    ]);
  }

  /** Answers {'open', epoch, turn}, or {'late'} for a turn that is over. */
  async reopen(owner: Owner, { turn, hadJobs }: Turn = { turn: '' }): Promise<Answer> {
    const name = this.store.nameOf(owner);
    const { maxClosed, receiptKeepMs } = this.limits;
    const args = [name, hadJobs ? '' : maxClosed, turn, receiptKeepMs];
    const answer = await this.store.run<Answer>('reopen', this.store.recordOf(name), args);
    refuse(answer[0], { cancelId: '', name });
    return answer;
  }

  /** One job, and those below it in its flow that belong to the same owner; nothing for a job that has ended or has no owner. */
  async cancelJob(queue: string, id: string, options: CancelOptions = {}): Promise<Receipt | undefined> {
    checkOptions(options);
    if (options.dryRun)
      throw new InvalidJobError('dryRun is for the cancel of an owner, not for that of one job.');
    const { reason = '', by = '', cancelId = randomUUID() } = options;
    const ref = `${queue}:${id}`;
    const args = [ref, cancelId, reason, by, this.limits.receiptKeepMs];
    const { value, isHeld } = await this.store.hold(async () => {
      const answer = await this.store.run<string[]>('cancelJob', `${this.store.root}:${ref}`, args);
      refuse(answer[0]!, { cancelId, name: '' });
      return answer;
    });
    const [word, name = ''] = value;
    if (word === 'unknown') return undefined;
    return this.confirm(await this.answer(word!, { ...options, cancelId, name }, ['0']), isHeld);
  }

  private async answer(word: string, cancel: Cancel, rest: readonly string[]): Promise<Receipt> {
    const { cancelId, name } = cancel;
    switch (word) {
      case 'late':
      case 'moved':
        return emptyReceipt(cancelId, name, { late: true });
      case 'empty':
        return receiptOfEmpty(cancel, rest);
      // Its answer was lost, or the process that asked first was killed: the clean-up goes on.
      case 'repeated':
        if (!(await this.read(cancelId)).done) await this.startCleanUp(cancelId);
        break;
      case 'cancelled':
        await this.startCleanUp(cancelId, rest[0]);
    }
    if (cancel.wait === 'drained')
      await this.drain(cancelId, durationMs('waitFor', cancel.waitFor ?? DEFAULT_WAIT));
    return this.read(cancelId);
  }

  private startCleanUp(cancelId: string, cursor?: string): Promise<boolean> {
    return this.cleanUp.pass(cancelId, cursor, Date.now() + ANSWERS_WITHIN_MS);
  }

  private async read(cancelId: string): Promise<Receipt> {
    const fields = await this.store.fieldsOf(this.store.receiptOf(cancelId));
    if (fields['owner'] === undefined) throw new CancelLostError(cancelId);
    return readReceipt(cancelId, fields);
  }

  /** The receipt says for later readers that the cancel is durable. One that was found so before stays so. */
  private async confirm(receipt: Receipt, isHeld: boolean | undefined): Promise<Receipt> {
    if (isHeld === undefined || receipt.durable) return receipt;
    if (receipt.late) return { ...receipt, durable: isHeld };
    if (!isHeld) throw new DurabilityUnknownError(receipt);
    await this.store.run('noteDurable', this.store.receiptOf(receipt.cancelId), []);
    return { ...receipt, durable: true };
  }

  private async drain(cancelId: string, waitMs: number): Promise<void> {
    const until = Date.now() + waitMs;
    while (!(await this.cleanUp.pass(cancelId, '0', until)) && Date.now() < until)
      await pause(LOOKS_AGAIN_MS);
  }
}

/** Throws for what wrote nothing. */
export function refuse(word: string, { cancelId, name }: Cancel): void {
  if (word === 'taken') throw new CancelConflictError(cancelId);
  if (word === 'full') throw new ClosedOwnersFullError(unescapeText(name));
}

/** Of a cancel that found no job: its receipt is one of a bounded number, and may be gone by now. */
export function receiptOfEmpty(
  { cancelId, name, reason = '', by = '', close = true }: Cancel,
  rest: readonly string[],
): Receipt {
  const [epoch = '', at = ''] = rest;
  return readReceipt(cancelId, { owner: name, epoch, at, reason, by, closed: close ? '1' : '', done: '1' });
}
