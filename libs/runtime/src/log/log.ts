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

/** Of an error only what says what happened: the store's client hangs the command on it, and with that a payload. */
function describeError(error: Error): object {
  const { type, message, stack, code } = stdSerializers.err(error) as SerializedError & { code?: string };
  return { type, message, stack, ...(code && { code }) };
}

/**
 * Lines are written at once, so that the last ones before an end are not lost; but whoever reads them may be gone or
 * slow, and no process waits for ever, or fails, for the sake of a log line.
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
/** Where what a process does is written; and where, when its output is an answer. */
export const standardOutput = output(1);
export const standardError = output(2);
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** The log of one process: JSON lines, or lines for people; secrets blanked; ids of the request or run added. */
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
  // In this thread, not in a worker's: the last lines before an exit must not be lost.
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
