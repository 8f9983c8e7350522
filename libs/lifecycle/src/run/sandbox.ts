import { UnrecoverableError } from 'bullmq';
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SandboxEndedError } from '../errors.js';
import { Handler } from './handler.js';
import { killGroup } from './kill-group.js';
import type { Run } from './run.js';
import { readWord, type Answer, type ErrorText, type WordToSandbox } from './sandbox.words.js';
import { graceMsOf } from './stop-reasons.js';

/** What the process runs: beside this file, or in the build when this file runs from its source, as in a test. */
const ENTRIES = ['./sandbox.process.js', '../../../../dist/libs/lifecycle/src/run/sandbox.process.js'];
/** How long the exit handlers of a process that has answered may take. */
const GOODBYE_MS = 1_000;

/**
 * Runs a kind's file in a process of its own, which is killed when its run was told to stop and its grace is over.
 *
 * Each run has a new process: that costs some 75 ms, and nothing of a run (memory, timers, a library's state) is there in
 * the next. A kept one would save them, and be one more thing to keep alive, bound and end.
 */
export class Sandbox extends Handler {
  private readonly entry = findEntry();

  constructor(private readonly file: string) {
    super();
  }

  /** Settles only when the process is gone, and with it everything it started. */
  async handle(payload: unknown, run: Run): Promise<unknown> {
    const child = this.start();
    const ended = endOf(child);
    let answer: Answer | undefined;
    let noted = Promise.resolve();
    let killing: NodeJS.Timeout | undefined;
    const killAfter = (ms: number): void => {
      clearTimeout(killing);
      killing = setTimeout(() => isRunning(child) && killGroup(child.pid), ms);
    };

    child.on('message', (said) => {
      const word = readWord(said);
      if (word?.mooring === 'progress') noted = run.progress(JSON.parse(word.value) as object);
      if (word?.mooring === 'log') run.log[word.level](...(word.said as [unknown]));
      if (word?.mooring === 'done' || word?.mooring === 'failed') {
        answer = word;
        killAfter(GOODBYE_MS);
      }
    });
    try {
      const { id, attempt, owners, fence } = run;
      tell(child, { mooring: 'begin', payload, run: { id, kind: run.kind.name, attempt, owners, fence } });
    } catch (error) {
      // The schema made something of it that cannot leave this process.
      const message = `The payload of ${run.kind.name} cannot be sent to its sandbox: ${textOf(error).message}`;
      answer = { mooring: 'failed', error: { name: 'TypeError', message }, isFinal: true };
      killAfter(0);
    }
    run.whenStopped((reason) => {
      if (answer || !isRunning(child)) return;
      tell(child, { mooring: 'stop', reason: textOf(reason) });
      killAfter(graceMsOf(reason, run.kind));
    });

    const how = await ended;
    clearTimeout(killing);
    if (answer?.mooring === 'done') {
      // Its last news, which it need not have waited for, is of before its end.
      await noted;
      return answer.result && (JSON.parse(answer.result) as unknown);
    }
    if (answer) throw errorOf(answer.error, answer.isFinal);
    if (run.stopReason instanceof Error) {
      run.abandon();
      throw run.stopReason;
    }
    throw new SandboxEndedError(run.kind.name, how);
  }

  private start(): ChildProcess {
    return fork(this.entry, [this.file], {
      // Flags meant for this process (a debugger's port, a test runner's loader) are not for that one.
      execArgv: [],
      // Keeps what JSON would lose of a parsed payload: dates, maps, bytes.
      serialization: 'advanced',
      // The last is the pipe by which it notices that this process died.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
      // It leads a group: a terminal's Ctrl-C does not reach it, and what it starts can be ended with it.
      detached: true,
    });
  }
}

function findEntry(): string {
  const entry = ENTRIES.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
  if (entry) return entry;
  throw new Error('The build is missing (no sandbox.process.js). Run npm run build.');
}

/** How it ended, once all it said has been read. What it started ends with it. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    // Without a pid there was no process. Other errors are of a process that lives on.
    child.on('error', (error) => child.pid === undefined && resolve(`it did not start (${error.message})`));
    child.once('exit', () => killGroup(child.pid));
    child.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
    // One that could not start, for want of file descriptors, has no pipes either, whatever its type says.
    (child.stdio as ChildProcess['stdio'] | undefined)?.[4]?.on('error', () => undefined);
  });
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** One that has just died hears nothing, and does not have to. */
function tell(child: ChildProcess, word: WordToSandbox): void {
  if (child.connected) child.send(word, () => undefined);
}

/** As plain fields: of an error that is sent as it is the name would be lost. */
function textOf(error: unknown): ErrorText {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, message };
}

function errorOf({ name, message, stack }: ErrorText, isFinal: boolean): Error {
  const error = isFinal ? new UnrecoverableError(message) : new Error(message);
  return Object.assign(error, { name, ...(stack && { stack }) });
}
