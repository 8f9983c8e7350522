import type { OwnerStore } from './owner-store.js';

/** The clean-up of cancels: jobs leave their queues a page at a time. It is tidiness: a cancelled job starts in no case. */
export class CleanUp {
  constructor(private readonly store: OwnerStore) {}

  /**
   * One pass over what a cancel ended, until `untilMs` at the latest. A pass that finds nothing left closes the receipt.
   * Answers true when the receipt is closed.
   */
  async pass(cancelId: string, from = '0', untilMs = Infinity): Promise<boolean> {
    const receipt = this.store.receiptOf(cancelId);
    let cursor = from;
    let running = 0;
    do {
      const [next, held] = await this.store.run<[string, number]>('clean', receipt, [cancelId, cursor]);
      if (next === 'gone') return true;
      running += held;
      cursor = next;
    } while (cursor !== '0' && Date.now() < untilMs);
    if (running > 0 || cursor !== '0') return false;
    await this.store.run('closeReceipt', receipt, [cancelId]);
    return true;
  }

  /** Cancels whose clean-up is not over, the oldest first: a process may have died on the way. */
  async open(most: number): Promise<string[]> {
    return this.store.readRange(`${this.store.root}~cancels`, 0, most - 1);
  }
}
