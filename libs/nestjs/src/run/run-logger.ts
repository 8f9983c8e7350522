import { Logger } from '@nestjs/common';

const MOST_LINES = 100;
const MOST_CHARACTERS = 2_000;

/** The log of a run: lines go to the log of the process, and the first of them to the log of the job. */
export class RunLogger extends Logger {
  private lines = 0;

  constructor(
    kind: string,
    private readonly keep: (level: string, text: string) => void,
  ) {
    super(kind);
  }

  override log(message: unknown, ...more: unknown[]): void {
    super.log(message, ...more);
    this.keepLine('info', message);
  }

  override warn(message: unknown, ...more: unknown[]): void {
    super.warn(message, ...more);
    this.keepLine('warn', message);
  }

  override error(message: unknown, ...more: unknown[]): void {
    super.error(message, ...more);
    this.keepLine('error', message);
  }

  private keepLine(level: string, message: unknown): void {
    this.lines += 1;
    if (this.lines > MOST_LINES) return;
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    const kept = this.lines === MOST_LINES ? 'Further lines are in the log of the process.' : text;
    this.keep(level, kept.slice(0, MOST_CHARACTERS));
  }
}
