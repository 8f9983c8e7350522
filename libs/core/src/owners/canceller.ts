import { randomUUID } from 'node:crypto';
import type { Held } from '../backend/durable-writes.js';
import {
  CancelConflictError,
  CancelLostError,
  ClosedOwnersFullError,
  DurabilityUnknownError,
  InvalidJobError,
} from '../model/errors.js';
import { unescapeText } from '../scripts/escape.js';
import type { Owner } from '../model/owner.js';
import { checkOptions, type CancelOptions } from './cancel-options.js';
import { ANSWERS_WITHIN_MS, untilDrained, type CleanUp } from './clean-up.js';
import { emptyReceipt, readReceipt, type Receipt } from './receipt.js';
import type { OwnerStore } from './owner-store.js';

/** What the caller saw of an owner: an entry since makes its decision void. */
export interface SeenOwner {
  readonly epoch: string;
  readonly wanted: string;
}

/** How long receipts are kept, and how many owners may be closed without ever having had a job. */
export interface CancelLimits {
  readonly receiptKeepMs: number;
  readonly maxClosed: number;
  /** Cancels are listed until others were told of them. */
  readonly outbox: boolean;
}

export interface Cancel extends CancelOptions {
  readonly cancelId: string;
  /** The owner as it stands in keys. */
  readonly name: string;
}

/** With several partitions: the order of changes to an owner, and what the others have to be told. */
export interface Turn {
  /** `home` in the home partition, which answers the number that the others are given. */
  readonly turn?: string;
  readonly spread?: string;
  /** The owner has jobs in another partition, or had some: it is not one of those that `maxClosed` bounds. */
  readonly hadJobs?: boolean | undefined;
}

export interface Reopening extends Turn {
  /** When it was asked for, ms by the store's clock. An owner that was cancelled later stays as it is. */
  readonly askedAt?: number | undefined;
}

/** What the script answered: a word; with `empty` the epoch and the time. */
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
    return this.complete(cancel, await this.store.hold(() => this.step(cancel, seen)));
  }

  /** The point of no return. */
  async step(cancel: Cancel, seen?: SeenOwner, change: Turn = {}): Promise<Answer> {
    const { turn = '', spread = '', hadJobs } = change;
    const { name, cancelId, reason = '', by = '', close = true, happenedAt = '', askedAt = '' } = cancel;
    const { receiptKeepMs, maxClosed, outbox } = this.limits;
    const about = [name, cancelId, close ? '1' : '', reason, by, receiptKeepMs, happenedAt];
    const { epoch, wanted } = seen ?? { epoch: '', wanted: '' };
    const args = [
      ...about,
      epoch,
      wanted,
      hadJobs ? '' : maxClosed,
      turn,
      spread,
      outbox ? '1' : '',
      askedAt,
    ];
    return this.run('cancel', this.store.recordOf(name), args, cancel);
  }

  /** Answers {'open', epoch, turn}, or {'late'} for a turn, or a time, that is over. */
  async reopen(owner: Owner, { turn = '', hadJobs, askedAt }: Reopening = {}): Promise<Answer> {
    const name = this.store.nameOf(owner);
    const { maxClosed, receiptKeepMs } = this.limits;
    const args = [name, hadJobs ? '' : maxClosed, turn, receiptKeepMs, askedAt ?? ''];
    return this.run('reopen', this.store.recordOf(name), args, { name });
  }

  /** One job, and those below it in its flow that belong to the same owner; nothing for a job that has ended or has no owner. */
  async cancelJob(queue: string, id: string, options: CancelOptions = {}): Promise<Receipt | undefined> {
    checkOptions(options);
    if (options.dryRun)
      throw new InvalidJobError('dryRun is for the cancel of an owner, not for that of one job.');
    const { reason = '', by = '', cancelId = randomUUID() } = options;
    const ref = `${queue}:${id}`;
    const args = [ref, cancelId, reason, by, this.limits.receiptKeepMs];
    const cancel = { ...options, cancelId, name: '' };
    const key = `${this.store.root}:${ref}`;
    const held = await this.store.hold(() => this.run('cancelJob', key, args, cancel));
    return held.value[0] === 'unknown' ? undefined : this.complete(cancel, held);
  }

  /** Throws for what wrote nothing. */
  private async run(
    script: 'cancel' | 'cancelJob' | 'reopen',
    key: string,
    args: readonly (string | number)[],
    { cancelId = '', name = '' }: Partial<Cancel>,
  ): Promise<Answer> {
    const answer = await this.store.run<Answer>(script, key, args);
    if (answer[0] === 'taken') throw new CancelConflictError(cancelId);
    if (answer[0] === 'full') throw new ClosedOwnersFullError(unescapeText(name));
    return answer;
  }

  /** What follows the point of no return. The receipt says for later readers that the cancel is durable, and stays so. */
  private async complete(cancel: Cancel, { value, isHeld }: Held<Answer>): Promise<Receipt> {
    const receipt = await this.answer(cancel, value);
    if (isHeld === undefined || receipt.durable) return receipt;
    if (receipt.late) return { ...receipt, durable: isHeld };
    if (!isHeld) throw new DurabilityUnknownError(receipt);
    await this.store.run('noteDurable', this.store.receiptOf(receipt.cancelId), []);
    return { ...receipt, durable: true };
  }

  private async answer(cancel: Cancel, answer: Answer): Promise<Receipt> {
    const { cancelId, wait, waitFor } = cancel;
    const [word] = answer;
    if (word !== 'cancelled' && word !== 'repeated') return unkeptReceipt(cancel, answer);
    // Of a repeated one the answer was lost, or the process that asked first was killed: the clean-up goes on.
    const isOver = word === 'repeated' && (await this.read(cancelId)).done;
    if (!isOver) await this.cleanUp.pass(cancelId, Date.now() + ANSWERS_WITHIN_MS);
    if (wait === 'drained') await untilDrained((untilMs) => this.cleanUp.pass(cancelId, untilMs), waitFor);
    return this.read(cancelId);
  }

  private async read(cancelId: string): Promise<Receipt> {
    const fields = await this.store.fieldsOf(this.store.receiptOf(cancelId));
    if (fields['owner'] === undefined) throw new CancelLostError(cancelId);
    return readReceipt(cancelId, fields);
  }
}

/** The receipt of a cancel that was late, or found no job: there is none in the store, or it may be gone by now. */
export function unkeptReceipt(
  { cancelId, name, reason = '', by = '', close = true }: Cancel,
  [word, epoch = '', at = '']: Answer,
): Receipt {
  if (word !== 'empty') return emptyReceipt(cancelId, name, { late: true });
  return readReceipt(cancelId, { owner: name, epoch, at, reason, by, closed: close ? '1' : '', done: '1' });
}
