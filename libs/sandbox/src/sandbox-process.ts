import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { killGroup } from './kill-group.js';
import {
  LOG_LEVELS,
  type Answer,
  type ErrorText,
  type SandboxTools,
  type WordOfSandbox,
  type WordToSandbox,
} from './sandbox-words.js';

/* One run of a sandboxed file: `node sandbox-process.js <file>`. It is told what to do over IPC, answers once and exits. */

const file = process.argv[2]!;
const stopping = new AbortController();
let hasAnswered = false;

// First of all: its worker may be gone before it is up.
process.once('disconnect', () => killGroup(process.pid));
if (!process.connected) killGroup(process.pid);
// Sent to all processes at once, these reach the worker as well, which decides what ends when.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('uncaughtException', fail);
process.on('message', (word: WordToSandbox) => {
  if (word.mooring === 'begin') perform(word).catch(fail);
  if (word.mooring === 'stop') stopping.abort(word.reason);
});

async function perform({ payload, run }: Extract<WordToSandbox, { mooring: 'begin' }>): Promise<void> {
  // Before any code of the handler's: it may never let go of this thread again.
  const watchdog = new Worker(new URL('./sandbox-watchdog.js', import.meta.url), { execArgv: [] });
  await once(watchdog, 'message');
  watchdog.unref();
  const handle = await load();
  const result = await handle(payload, { ...run, signal: stopping.signal, progress, log });
  answer({ mooring: 'done', result: JSON.stringify(result) });
}

type Handler = (payload: unknown, run: SandboxTools) => Promise<unknown>;

async function load(): Promise<Handler> {
  const exports = (await import(pathToFileURL(file).href)) as Record<'default' | 'handle', unknown>;
  const found = [exports.default, exports.handle].find((each) => typeof each === 'function');
  if (found) return found as Handler;
  throw new TypeError(`${file} exports no handler: make it the default export, or name it "handle".`);
}

const log = Object.fromEntries(
  LOG_LEVELS.map((level) => [
    level,
    (...said: unknown[]) => {
      // What cannot be sent as it is, a function for instance, is described.
      say({ mooring: 'log', level, said }).catch(() =>
        say({ mooring: 'log', level, said: said.map((each) => inspect(each)) }),
      );
    },
  ]),
) as SandboxTools['log'];

async function progress(value: unknown): Promise<void> {
  try {
    await say({ mooring: 'progress', value: JSON.stringify(value) ?? 'null' });
  } catch (error) {
    log.warn(`The progress cannot be sent: ${textOf(error).message}`);
  }
}

function fail(error: unknown): void {
  answer({ mooring: 'failed', error: textOf(error), isFinal: isUnrecoverable(error) });
}

/** The first one counts. Exit handlers still run; what else is left of the run ends with the process. */
function answer(word: Answer): void {
  if (hasAnswered) return;
  hasAnswered = true;
  const exit = (): never => process.exit();
  say(word).then(exit, exit);
}

function say(word: WordOfSandbox): Promise<void> {
  return new Promise((resolve) => {
    process.send!(word, undefined, undefined, () => resolve());
  });
}

function textOf(error: unknown): ErrorText {
  if (error instanceof Error) return { name: error.name, message: error.message, stack: error.stack };
  return { name: 'Error', message: typeof error === 'string' ? error : inspect(error) };
}

/** Also one of a class that extends BullMQ's, of whichever copy of it the handler has. */
function isUnrecoverable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  let type: unknown = error.constructor;
  while (typeof type === 'function' && type.name !== 'UnrecoverableError') type = Object.getPrototypeOf(type);
  return error.name === 'UnrecoverableError' || typeof type === 'function';
}
