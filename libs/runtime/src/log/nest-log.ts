import type { LoggerService } from '@nestjs/common';
import type { Log } from './log.js';

// Contexts of Nest's start-up messages, which are logged at debug level.
const CHATTER = new Set([
  'InstanceLoader',
  'NestFactory',
  'NestApplication',
  'RouterExplorer',
  'RoutesResolver',
]);

type Level = 'info' | 'error' | 'warn' | 'debug' | 'trace' | 'fatal';

/** Forwards Nest's log lines to the log of the process. */
export class NestLog implements LoggerService {
  readonly log = this.writerAt('info');
  readonly error = this.writerAt('error');
  readonly warn = this.writerAt('warn');
  readonly debug = this.writerAt('debug');
  readonly verbose = this.writerAt('trace');
  readonly fatal = this.writerAt('fatal');

  constructor(private readonly target: Log) {}

  private writerAt(level: Level): (message: unknown, ...rest: unknown[]) => void {
    return (message, ...rest) => this.write(level, message, rest);
  }

  /** Nest passes the context last, and for errors a stack before it. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const context = rest.at(-1);
    const fields: Record<string, unknown> = typeof context === 'string' ? { context } : {};
    const extra = (typeof context === 'string' ? rest.slice(0, -1) : rest).filter(
      (each) => each !== undefined,
    );
    const error = extra.find((each) => each instanceof Error);
    const [stack] = extra;
    if (error) fields['err'] = error;
    else if (level === 'error' && typeof stack === 'string') fields['stack'] = stack;
    else if (extra.length > 0) fields['extra'] = extra;
    const actual = level === 'info' && CHATTER.has(String(context)) ? 'debug' : level;

    if (message instanceof Error) this.target[actual]({ ...fields, err: message }, message.message);
    else if (typeof message === 'object' && message !== null) this.target[actual]({ ...fields, ...message });
    else this.target[actual](fields, String(message));
  }
}
