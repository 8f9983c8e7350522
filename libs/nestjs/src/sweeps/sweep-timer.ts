import { setTimeout as pause } from 'node:timers/promises';
import type { OutageLog } from './outage-log.js';

const STOPS_WITHIN_MS = 5_000;

/** Runs a sweep now and then in this process, never twice at once. It keeps no process alive. */
export class SweepTimer {
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> | undefined;

  constructor(
    private readonly everyMs: number,
    private readonly sweepOnce: () => Promise<unknown>,
    private readonly log: OutageLog,
  ) {}

  start(): void {
    void this.runOnce();
    this.timer = setInterval(() => void this.runOnce(), this.everyMs).unref();
  }

  /** Joins the turn that is under way, if there is one. */
  runOnce(): Promise<void> {
    this.turn ??= this.run().finally(() => (this.turn = undefined));
    return this.turn;
  }

  /** Waits for the turn that is under way, but not for a store that does not answer. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.race([this.turn, pause(STOPS_WITHIN_MS, undefined, { ref: false })]);
  }

  private async run(): Promise<void> {
    try {
      await this.sweepOnce();
      this.log.recovered();
    } catch (error) {
      this.log.failed(error as Error);
    }
  }
}
