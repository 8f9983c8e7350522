import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { killGroup } from './kill-group.js';
import {
  readWord,
  type Answer,
  type ErrorText,
  type SandboxTools,
  type WordToSandbox,
} from './sandbox-words.js';

/** Beside this file, or in the build when this file runs from its source, as in a test. */
const ENTRIES = ['./sandbox-process.js', '../../../dist/libs/sandbox/src/sandbox-process.js'];
/** How long the exit handlers of a process that has answered may take. */
const EXITS_WITHIN_MS = 1_000;

/** A result, an error of the handler's, or, without an answer, how the process ended. */
export type SandboxEnd =
  | { readonly result: unknown }
  | { readonly error: ErrorText; readonly isFinal: boolean }
  | { readonly ended: string };

/** Runs a file in a new process for each run, which is killed when its run was told to stop and its grace is over. */
export class Sandbox {
  private readonly entry = findEntry();

  constructor(
    private readonly name: string,
    private readonly file: string,
    private readonly graceMs: number,
  ) {}

  /**
   * Settles only when the process is gone, and with it everything that it started.
   * @param facts what the handler is told of its run
   */
  async run(payload: unknown, facts: object, tools: SandboxTools): Promise<SandboxEnd> {
    const { signal, log } = tools;
    const child = this.start();
    let answer: Answer | undefined;
    let progressed = Promise.resolve();
    let killing: NodeJS.Timeout | undefined;
    const killAfter = (ms: number): void => {
      clearTimeout(killing);
      killing = setTimeout(() => isRunning(child) && killGroup(child.pid), ms);
    };
    const stop = (): void => {
      tell(child, { mooring: 'stop', reason: signal.reason });
      if (!answer) killAfter(this.graceMs);
    };

    child.on('message', (said) => {
      const word = readWord(said);
      if (word?.mooring === 'progress') progressed = tools.progress(JSON.parse(word.value) as object);
      else if (word?.mooring === 'log') log[word.level](...(word.said as [unknown]));
      else if (word) {
        answer = word;
        killAfter(EXITS_WITHIN_MS);
      }
    });
    if (!begin(child, payload, facts)) {
      answer = unsendable(this.name);
      killAfter(0);
    }
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const ended = await endOf(child);
    clearTimeout(killing);
    signal.removeEventListener('abort', stop);
    // The last progress was made before the end.
    await progressed;
    return answer ? readAnswer(answer) : { ended };
  }

  private start(): ChildProcess {
    return fork(this.entry, [this.file], {
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

/** False if the schema has made something of the payload that cannot leave this process. */
function begin(child: ChildProcess, payload: unknown, run: object): boolean {
  try {
    tell(child, { mooring: 'begin', payload, run });
    return true;
  } catch {
    return false;
  }
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

function unsendable(name: string): Answer {
  const message = `The payload of ${name} cannot be sent to its sandbox.`;
  return { mooring: 'failed', error: { name: 'TypeError', message }, isFinal: true };
}

function readAnswer(answer: Answer): SandboxEnd {
  if (answer.mooring === 'failed') return { error: answer.error, isFinal: answer.isFinal };
  return { result: answer.result && (JSON.parse(answer.result) as unknown) };
}
