import { setTimeout as pause } from 'node:timers/promises';
import { durationMs } from '../model/duration.js';
import type { OwnerStore } from './owner-store.js';

/** A cancel cleans up for so long before it answers. */
export const ANSWERS_WITHIN_MS = 1_000;
const LOOKS_AGAIN_MS = 50;

/** The clean-up of cancels: jobs leave their queues a page at a time. The gate refuses cancelled jobs without it. */
export class CleanUp {
  constructor(private readonly store: OwnerStore) {}

  /**
   * One pass over what a cancel ended, until `untilMs` at the latest. A pass that finds nothing left closes the receipt.
   * Answers true when the receipt is closed.
   */
  async pass(cancelId: string, untilMs = Infinity): Promise<boolean> {
    const receipt = this.store.receiptOf(cancelId);
    let cursor = '0';
    let next: string;
    let running = 0;
    do {
      const [answered, held] = await this.store.run<[string, number]>('clean', receipt, [cancelId, cursor]);
      if (answered === 'gone') return true;
      running += held;
      next = answered;
      if (next !== 'rest') cursor = next;
    } while (next !== '0' && Date.now() < untilMs);
    if (running > 0 || next !== '0') return false;
    await this.store.run('closeReceipt', receipt, [cancelId]);
    return true;
  }

  /** Cancels whose clean-up is not over, the oldest first: a process may have died on the way. All of them, if `most` is not given. */
  async open(most = 0): Promise<string[]> {
    return this.store.readRange(`${this.store.root}~cancels`, 0, most - 1);
  }
}

/** A pass over each open cancel. Throws an `AggregateError` at the end if some of them failed. */
export async function passAll(cleanUp: Pick<CleanUp, 'open' | 'pass'>): Promise<number> {
  const open = await cleanUp.open();
  const errors: unknown[] = [];
  for (const cancelId of open) await cleanUp.pass(cancelId).catch((error: unknown) => errors.push(error));
  if (errors.length === 0) return open.length;
  throw new AggregateError(errors, `${errors.length} of ${open.length} cancels could not be cleaned up.`);
}

/** Repeats a pass until it leaves nothing, or the time is over. */
export async function untilDrained(
  pass: (untilMs: number) => Promise<boolean>,
  waitFor: number | string = '30s',
): Promise<void> {
  const until = Date.now() + durationMs('waitFor', waitFor);
  while (!(await pass(until)) && Date.now() < until) await pause(LOOKS_AGAIN_MS);
}
