import {
  DurabilityUnknownError,
  formatOwner,
  Owners,
  parseOwner,
  type CancelOptions,
  type Owner,
  type OwnersOptions,
  type Receipt,
  type Reopened,
  type ReopenOptions,
} from '#core';
import type { SeenOwner } from '#core/parts';
import { randomUUID } from 'node:crypto';
import type { Journal } from './journal.js';

/** `Owners` that tell what was cancelled and reopened, and by whom. */
export class JournaledOwners extends Owners {
  constructor(
    options: OwnersOptions,
    private readonly journal: Journal,
  ) {
    super(options);
  }

  /** It is told before its runs have ended. The same `cancelId` again waits for them. */
  override async cancel(
    owner: Owner | string,
    options: CancelOptions = {},
    seen?: SeenOwner,
  ): Promise<Receipt> {
    const { wait, waitFor: _, ...atOnce } = { cancelId: randomUUID(), ...options };
    const receipt = (await this.told(() => super.cancel(owner, atOnce, seen)))!;
    if (!wait || receipt.done || receipt.late || receipt.dryRun) return receipt;
    return super.cancel(owner, { ...options, cancelId: atOnce.cancelId });
  }

  override cancelJob(queue: string, id: string, options: CancelOptions = {}): Promise<Receipt | undefined> {
    return this.told(() => super.cancelJob(queue, id, options), { jobOnly: true });
  }

  override async reopen(
    owner: Owner | string,
    { by, askedAt }: ReopenOptions & { readonly by?: string } = {},
  ): Promise<Reopened> {
    const answer = await super.reopen(owner, { askedAt });
    if (answer.late) return answer;
    const of = formatOwner(parseOwner(owner));
    this.journal.tell({ event: 'owner.reopened', owner: of, ...(by !== undefined && { by }) });
    return answer;
  }

  /** A cancel that is not confirmed as durable was made as well. */
  private async told(
    cancel: () => Promise<Receipt | undefined>,
    more: { jobOnly?: true } = {},
  ): Promise<Receipt | undefined> {
    const unconfirmed = (error: unknown): never => {
      if (error instanceof DurabilityUnknownError) this.tell(error.answer as Receipt, more);
      throw error;
    };
    const receipt = await cancel().catch(unconfirmed);
    if (receipt) this.tell(receipt, more);
    return receipt;
  }

  private tell(receipt: Receipt, more: { jobOnly?: true }): void {
    if (!receipt.late && !receipt.dryRun)
      this.journal.tellHere({ event: 'owner.cancelled', ...receipt, ...more });
  }
}
