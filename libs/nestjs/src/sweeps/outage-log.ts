import type { Logger } from '@nestjs/common';

const REPEATS_EVERY_MS = 60_000;

/** Logs the first error of an outage as an error, and the same one again as a warning, at most once a minute. */
export class OutageLog {
  private last: { readonly message: string; readonly at: number } | undefined;
  private isOver = true;

  constructor(
    private readonly sweep: string,
    private readonly logger: Pick<Logger, 'error' | 'warn'>,
  ) {}

  failed({ message, stack }: Error, now = Date.now()): void {
    const isRepeat = this.last?.message === message;
    if (isRepeat && now - this.last!.at < REPEATS_EVERY_MS) return;
    if (isRepeat && !this.isOver) this.logger.warn(`${this.sweep} still fails: ${message}`);
    else this.logger.error(`${this.sweep} failed: ${message}`, stack);
    this.last = { message, at: now };
    this.isOver = false;
  }

  recovered(): void {
    this.isOver = true;
  }
}
