import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CancelConflictError } from '../model/errors.js';
import { durationMs } from '../model/duration.js';
import type { Owner } from '../model/owner.js';
import type { CleanUp } from './clean-up.js';
import { emptyReceipt, readReceipt, type Receipt } from './receipt.js';
import type { OwnerStore } from './owner-store.js';

/** With very many jobs the clean-up goes on after the answer. */
const ANSWERS_WITHIN_MS = 1_000;
const LOOKS_AGAIN_MS = 50;
const DEFAULT_WAIT = '30s';

export interface CancelOptions {
  readonly reason?: string;
  /** Who asked for it. */
  readonly by?: string;
  /** A name of the caller's for this cancel: the same one again answers the same receipt and ends nothing more. */
  readonly cancelId?: string;
  /** false: the owner goes on taking jobs. */
  readonly close?: boolean;
  /** When that happened which ends the owner, ms: an owner that was reopened later is left alone. */
  readonly happenedAt?: number;
  /** Answer when nothing of it runs any more, or when `waitFor` is over. */
  readonly wait?: 'drained';
  readonly waitFor?: number | string;
}

/** What the caller saw of an owner: an entry since makes its decision void. */
export interface SeenOwner {
  readonly epoch: string;
  readonly wanted: string;
}

/** Cancels owners and single jobs. The script is the point of no return; what follows it any process can finish. */
export class Canceller {
  constructor(
    private readonly store: OwnerStore,
    private readonly cleanUp: CleanUp,
    private readonly keepMs: number,
  ) {}

  async cancel(owner: Owner, options: CancelOptions = {}, seen?: SeenOwner): Promise<Receipt> {
    const { reason = '', by = '', cancelId = randomUUID(), close = true, happenedAt = '' } = options;
    const name = this.store.nameOf(owner);
    const [word, cursor] = await this.store.run<[string, string?]>('cancel', this.store.recordOf(name), [
      name,
      cancelId,
      close ? '1' : '',
      reason,
      by,
      this.keepMs,
      happenedAt,
      seen?.epoch ?? '',
      seen?.wanted ?? '',
    ]);
    return this.answer(word, cancelId, name, options, cursor);
  }

  /** One job, and those below it in its flow that belong to the same owner; nothing for a job that has ended or has no owner. */
  async cancelJob(queue: string, id: string, options: CancelOptions = {}): Promise<Receipt | undefined> {
    const { reason = '', by = '', cancelId = randomUUID() } = options;
    const ref = `${queue}:${id}`;
    const args = [ref, cancelId, reason, by, this.keepMs];
    const [word, owner] = await this.store.run<[string, string?]>(
      'cancelJob',
      `${this.store.root}:${ref}`,
      args,
    );
    return word === 'unknown' ? undefined : this.answer(word, cancelId, owner ?? '', options, '0');
  }

  private async answer(
    word: string,
    cancelId: string,
    name: string,
    options: CancelOptions,
    cursor?: string,
  ): Promise<Receipt> {
    switch (word) {
      case 'taken':
        throw new CancelConflictError(cancelId);
      case 'late':
      case 'moved':
        return emptyReceipt(cancelId, name, { late: true });
      case 'unknown':
        return emptyReceipt(cancelId, name, {});
      case 'cancelled':
        await this.cleanUp.pass(cancelId, cursor, Date.now() + ANSWERS_WITHIN_MS);
    }
    if (options.wait === 'drained')
      await this.drain(cancelId, durationMs('waitFor', options.waitFor ?? DEFAULT_WAIT));
    return readReceipt(cancelId, await this.store.fieldsOf(this.store.receiptOf(cancelId)));
  }

  private async drain(cancelId: string, waitMs: number): Promise<void> {
    const until = Date.now() + waitMs;
    while (!(await this.cleanUp.pass(cancelId, '0', until)) && Date.now() < until)
      await pause(LOOKS_AGAIN_MS);
  }
}
