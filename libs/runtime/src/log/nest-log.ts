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
  constructor(private readonly target: Log) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
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
