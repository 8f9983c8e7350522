import type { SweepRecord } from './sweep-book.js';
import type { Command } from './sweep-store.js';

/** A job that a sweep removes. */
export interface JobRemoval {
  readonly id: string;
  readonly queue: string;
  /** Its kind. */
  readonly name: string;
  readonly owners: readonly string[];
  readonly state: string;
  readonly why: 'expired' | 'retention';
  readonly reason: string;
  /** By the store's time, ms. */
  readonly at: number;
}

/** Hears what sweeps do, for logs, metrics, events and history. Every provider that extends it is found at start. */
export abstract class SweepListener {
  /**
   * Jobs leave their queues. Retention calls it before it removes them, and keeps them if it rejects; expiry calls it afterwards. A job
   * that is still there was not removed.
   */
  async jobsLeave(_removals: readonly JobRemoval[]): Promise<void> {}

  /** Commands that belong to the step that saves the end of a sweep, such as an entry in an outbox. */
  commandsAtEnd(_record: SweepRecord): readonly Command[] {
    return [];
  }

  /** A sweep was saved as done, tripped, stopped or failed. */
  sweepEnded(_record: SweepRecord): void {}
}
