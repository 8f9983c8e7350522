import {
  DurabilityUnknownError,
  Owners,
  type CancelOptions,
  type Owner,
  type Receipt,
  type SeenOwner,
} from '#core';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';

export type CancelListener = (receipt: Receipt) => unknown;

/**
 * Owners that report the cancels of this process. A process that is killed right after a cancel reports nothing, and a repeated cancel is
 * reported again: what must not be missed reads the receipts.
 */
export class ReportingOwners extends Owners {
  private readonly listeners = new Set<CancelListener>();
  private readonly logger = new Logger('mooring');

  onCancelled(listener: CancelListener): void {
    this.listeners.add(listener);
  }

  /** Listeners do not wait until the owner is drained: a run may wait for what they do. */
  override async cancel(
    owner: Owner | string,
    options: CancelOptions = {},
    seen?: SeenOwner,
  ): Promise<Receipt> {
    if (options.dryRun) return super.cancel(owner, options, seen);
    const { wait, waitFor: _, ...atOnce } = { cancelId: randomUUID(), ...options };
    const receipt = await this.report(super.cancel(owner, atOnce, seen));
    const isOver = wait === undefined || receipt.done;
    return isOver ? receipt : super.cancel(owner, { ...options, cancelId: receipt.cancelId }, seen);
  }

  override async cancelJob(queue: string, id: string, options?: CancelOptions): Promise<Receipt | undefined> {
    return this.report(super.cancelJob(queue, id, options));
  }

  private async report<Answer extends Receipt | undefined>(cancelling: Promise<Answer>): Promise<Answer> {
    try {
      const receipt = await cancelling;
      if (receipt && !receipt.late) this.tell(receipt);
      return receipt;
    } catch (error) {
      if (error instanceof DurabilityUnknownError) this.tell(error.answer as Receipt);
      throw error;
    }
  }

  /** An error of a listener does not fail the cancel. */
  private tell(receipt: Receipt): void {
    const fail = (error: unknown) =>
      this.logger.error(`Cancel ${receipt.cancelId}: a listener failed: ${String(error)}`);
    for (const listener of this.listeners) void Promise.resolve(receipt).then(listener).catch(fail);
  }
}
