import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { pino, stdSerializers, type DestinationStream, type Logger, type SerializedError } from 'pino';
import type pretty from 'pino-pretty';
import { logContext } from './log-context.js';

export interface LogSettings {
  readonly LOG_LEVEL: string;
  readonly LOG_FORMAT?: 'json' | 'pretty' | undefined;
}

export type Log = Logger;

const SECRET_NAMES = [
  'password',
  'secret',
  'token',
  'apiKey',
  'api_key',
  'authorization',
  'cookie',
  'REDIS_URL',
  'API_KEYS',
];
const SECRETS = SECRET_NAMES.flatMap((name) => {
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return [name, capital].flatMap((each) => [each, `*.${each}`, `*.*.${each}`, `*.*.*.${each}`]);
});

/** Logs selected fields of an error: the Redis client attaches the command, which may hold a payload. */
function describeError(error: Error): object {
  const { type, message, stack, code } = stdSerializers.err(error) as SerializedError & { code?: string };
  return { type, message, stack, ...(code && { code }) };
}

/**
 * Lines are written synchronously, so that the last ones before an exit are not lost. If the reader is slow or gone, lines are
 * dropped: the process must not block or fail because of its log.
 */
const output = (fd: 1 | 2): Writable =>
  new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      for (let tries = 0; tries < 50; tries += 1) {
        try {
          writeSync(fd, line);
          break;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') break;
          Atomics.wait(PAUSE, 0, 0, 2);
        }
      }
      done();
    },
  });
/** Destination of the log; standard error if standard output carries an answer. */
export const standardOutput = output(1);
export const standardError = output(2);
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Creates the log of a process: JSON or pretty lines, with secrets redacted and the ids of the request or run added. */
export function createLog(app: string, settings: LogSettings, destination?: DestinationStream): Log {
  const format = settings.LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json');
  const options = {
    level: settings.LOG_LEVEL,
    base: { app, pid: process.pid },
    redact: { paths: SECRETS, censor: '[secret]' },
    mixin: () => logContext.fields(),
    serializers: { err: describeError },
  };
  if (format === 'json') return pino(options, destination ?? standardOutput);
  // In this thread: a worker thread could lose the last lines before an exit.
  const forPeople = createRequire(import.meta.url)('pino-pretty') as typeof pretty;
  const stream = forPeople({
    sync: true,
    colorize: (process.stdout.isTTY && !process.env['NO_COLOR']) || Boolean(process.env['FORCE_COLOR']),
    ignore: 'pid,hostname,app',
    translateTime: 'SYS:HH:MM:ss.l',
    destination: destination ?? standardOutput,
  });
  return pino(options, stream);
}
