import { UnrecoverableError } from 'bullmq';
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RunOverError, SandboxEndedError } from '../errors.js';
import type { Kind } from '../kinds/kind.js';
import { Handler } from './handler.js';
import { killGroup } from './kill-group.js';
import type { Run } from './run.js';
import { readWord, type Answer, type ErrorText, type WordToSandbox } from './sandbox-words.js';

/** Beside this file, or in the build when this file runs from its source, as in a test. */
const ENTRIES = ['./sandbox-process.js', '../../../../dist/libs/nestjs/src/run/sandbox-process.js'];
/** How long the exit handlers of a process that has answered may take. */
const EXITS_WITHIN_MS = 1_000;

/** Runs the file of a kind in a new process for each run, which is killed when its run was told to stop and its grace is over. */
export class Sandbox extends Handler {
  private readonly entry = findEntry();

  constructor(private readonly kind: Kind) {
    super();
  }

  /** Settles only when the process is gone, and with it everything that it started. */
  async handle(payload: unknown, run: Run): Promise<unknown> {
    const child = this.start();
    let answer: Answer | undefined;
    let progressed = Promise.resolve();
    let killing: NodeJS.Timeout | undefined;
    const killAfter = (ms: number): void => {
      clearTimeout(killing);
      killing = setTimeout(() => isRunning(child) && killGroup(child.pid), ms);
    };
    const stop = (): void => {
      tell(child, { mooring: 'stop', reason: run.signal.reason });
      if (!answer) killAfter(this.kind.graceMs);
    };

    child.on('message', (said) => {
      const word = readWord(said);
      if (word?.mooring === 'progress') progressed = run.progress(JSON.parse(word.value) as object);
      else if (word?.mooring === 'log') run.log[word.level](...(word.said as [unknown]));
      else if (word) {
        answer = word;
        killAfter(EXITS_WITHIN_MS);
      }
    });
    if (!this.begin(child, payload, run)) {
      answer = unsendable(this.kind.name);
      killAfter(0);
    }
    run.signal.addEventListener('abort', stop);
    if (run.signal.aborted) stop();
    const how = await endOf(child);
    clearTimeout(killing);
    run.signal.removeEventListener('abort', stop);
    // The last progress was made before the end.
    await progressed;
    if (answer) return resultOf(answer);
    throw run.signal.aborted
      ? new RunOverError(String(run.signal.reason))
      : new SandboxEndedError(this.kind.name, how);
  }

  /** False if the schema has made something of the payload that cannot leave this process. */
  private begin(child: ChildProcess, payload: unknown, { id, attempt, owners, fence }: Run): boolean {
    try {
      tell(child, { mooring: 'begin', payload, run: { id, kind: this.kind.name, attempt, owners, fence } });
      return true;
    } catch {
      return false;
    }
  }

  private start(): ChildProcess {
    return fork(this.entry, [this.kind.sandbox!], {
      // Flags meant for this process (a debugger's port, a test runner's loader) are not for that one.
      execArgv: [],
      // Keeps what JSON would lose of a payload that was read: dates, maps, bytes.
      serialization: 'advanced',
      // The last one is the pipe by which it notices that this process died.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
      // It leads a group: a terminal's Ctrl-C does not reach it, and what it starts can be ended with it.
      detached: true,
    });
  }
}

function findEntry(): string {
  const entry = ENTRIES.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
  if (entry) return entry;
  throw new Error('The build is missing (no sandbox-process.js). Run npm run build.');
}

/** How it ended, once all that it sent was read. What it started ends with it. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    // Without a pid there was no process. Other errors are of a process that lives on.
    child.on('error', (error) => child.pid === undefined && resolve(`it did not start (${error.message})`));
    child.once('exit', () => killGroup(child.pid));
    child.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
    // One that could not start has no pipes either, whatever its type says.
    (child.stdio as ChildProcess['stdio'] | undefined)?.[4]?.on('error', () => undefined);
  });
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function tell(child: ChildProcess, word: WordToSandbox): void {
  if (child.connected) child.send(word, () => undefined);
}

function unsendable(kind: string): Answer {
  const message = `The payload of ${kind} cannot be sent to its sandbox.`;
  return { mooring: 'failed', error: { name: 'TypeError', message }, isFinal: true };
}

function resultOf(answer: Answer): unknown {
  if (answer.mooring === 'done') return answer.result && (JSON.parse(answer.result) as unknown);
  const { name, message, stack }: ErrorText = answer.error;
  const error = answer.isFinal ? new UnrecoverableError(message) : new Error(message);
  throw Object.assign(error, { name, ...(stack && { stack }) });
}
