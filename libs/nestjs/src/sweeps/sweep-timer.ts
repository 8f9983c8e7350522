import type { Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';

const STOPS_WITHIN_MS = 5_000;
const REPEATS_EVERY_MS = 60_000;

/**
 * Runs a sweep now and then in this process, never twice at once. It keeps no process alive. The first error of an outage is logged as an
 * error, and the same one again as a warning, at most once a minute.
 */
export class SweepTimer {
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> | undefined;
  private last: { readonly message: string; readonly at: number } | undefined;
  private isOutage = false;

  constructor(
    private readonly sweep: string,
    private readonly everyMs: number,
    private readonly sweepOnce: () => Promise<unknown>,
    private readonly logger: Pick<Logger, 'error' | 'warn'>,
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
      this.isOutage = false;
    } catch (error) {
      this.log(error as Error);
    }
  }

  private log({ message, stack }: Error): void {
    const [now, isRepeat] = [Date.now(), this.last?.message === message];
    if (isRepeat && now - this.last!.at < REPEATS_EVERY_MS) return;
    if (isRepeat && this.isOutage) this.logger.warn(`${this.sweep} still fails: ${message}`);
    else this.logger.error(`${this.sweep} failed: ${message}`, stack);
    this.last = { message, at: now };
    this.isOutage = true;
  }
}
