import { fork, type ChildProcess } from 'node:child_process';

const STOP_MS = 5_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A store that runs in a process of its own, which ends with this one. */
export interface StoreProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process has exited for any reason. */
  readonly exited: Promise<Exit>;
  /** Ends the process and everything in it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** What a store's process says first, over IPC. */
type Word = { type: 'listening'; port: number } | { type: 'failed'; reason: string };

/** Starts a store's process on 127.0.0.1 and waits until it listens. If it does not start, nothing is left running. */
export async function startStoreProcess(
  entry: string,
  args: readonly string[],
  stdio: 'inherit' | 'ignore' = 'inherit',
): Promise<StoreProcess> {
  const child = fork(entry, args, {
    // Flags meant for this process (a debugger's port, a test runner's loader) are not for that one.
    execArgv: [],
    stdio: ['ignore', stdio, stdio, 'ipc'],
  });
  const exited = exitOf(child);

  const word = await firstWord(child, exited);
  if (word.type === 'failed') {
    await end(child, exited);
    throw new Error(`The private store did not start: ${word.reason}.`);
  }
  return {
    url: `redis://127.0.0.1:${word.port}`,
    port: word.port,
    pid: child.pid!,
    exited,
    stop: () => end(child, exited),
  };
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    // Without a pid there was no process, and no 'exit' will come. Other errors are of a process that lives on.
    child.on('error', () => child.pid === undefined && resolve({ code: null, signal: null }));
  });
}

function firstWord(child: ChildProcess, exited: Promise<Exit>): Promise<Word> {
  const died = exited.then(({ code, signal }): Word => {
    return { type: 'failed', reason: `its process ended early (${signal ?? `code ${code}`})` };
  });
  const spoke = new Promise<Word>((resolve) => child.once('message', (word) => resolve(word as Word)));
  return Promise.race([spoke, died]);
}

async function end(child: ChildProcess, exited: Promise<Exit>): Promise<void> {
  // The child exits when the IPC channel closes. It ignores signals, which a terminal sends to the whole group.
  if (child.connected) child.disconnect();
  else child.kill('SIGTERM');
  // A long script holds the whole process, signals included.
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exited;
  clearTimeout(timer);
}
