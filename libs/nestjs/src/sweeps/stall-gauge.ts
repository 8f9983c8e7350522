import { setTimeout as pause } from 'node:timers/promises';
import type { MooringStore } from '../store/mooring-store.js';

const BETWEEN_MS = 2;
const STOPS_WITHIN_MS = 100;

/** Measures how long the store keeps another client waiting, on a connection of its own. Time in which this process is busy counts too. */
export class StallGauge {
  private isStopped = false;
  private worst = 0;
  private readonly done: Promise<void>;

  constructor(store: MooringStore) {
    this.done = this.measure(store).catch(() => undefined);
  }

  /** The longest wait since the last call, ms. */
  take(): number {
    const { worst } = this;
    this.worst = 0;
    return worst;
  }

  /** Does not wait for a store that does not answer. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.race([this.done, pause(STOPS_WITHIN_MS, undefined, { ref: false })]);
  }

  private async measure(store: MooringStore): Promise<void> {
    const client = (await store.client).duplicate();
    // Errors of the store are reported by the connection that it was made from.
    client.on('error', () => undefined);
    try {
      while (!this.isStopped) {
        const askedAt = performance.now();
        await client.get(store.key('gauge'));
        this.worst = Math.max(this.worst, performance.now() - askedAt);
        await pause(BETWEEN_MS, undefined, { ref: false });
      }
    } finally {
      client.disconnect();
    }
  }
}
