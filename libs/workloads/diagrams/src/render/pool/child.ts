import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { DiagramInvalid, RenderLimit } from '../errors.js';
import { codeFolders, findEntry } from './entry.js';
import type { PoolSpec } from './spec.js';
import type { Answer, Task, Word } from './words.js';

const START_MS = 20_000;

/** One process that draws, one thing at a time. What takes too long or is no longer wanted is ended by killing it. */
export class Child {
  private readonly process: ChildProcess;
  private readonly ended: Promise<RenderLimit>;
  private readonly ready: Promise<void>;
  private heard: (answer: Answer) => void = () => undefined;
  private renders = 0;
  private isSpent = false;

  constructor(private readonly spec: PoolSpec) {
    this.process = start(spec);
    this.ended = endOf(this.process);
    this.ready = this.listen();
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Whether it may be asked again. */
  get isFit(): boolean {
    return !this.isSpent && this.renders < this.spec.renders;
  }

  async ask(task: Task, timeMs: number, signal: AbortSignal): Promise<Answer> {
    this.renders += 1;
    try {
      await this.within(START_MS, signal, this.ready);
      const answer = this.answer();
      this.process.send(task, () => undefined);
      return told(await this.within(timeMs, signal, answer));
    } catch (error) {
      if (!(error instanceof DiagramInvalid)) await this.end();
      throw error;
    }
  }

  /** Settles when it is gone. */
  async end(): Promise<void> {
    this.isSpent = true;
    this.process.kill('SIGKILL');
    await this.ended;
  }

  private answer(): Promise<Answer> {
    return new Promise((resolve) => {
      this.heard = resolve;
    });
  }

  private listen(): Promise<void> {
    return new Promise((resolve) => {
      this.process.on('message', (word: Word) => {
        if (word.said === 'ready') resolve();
        else if (word.said !== 'group') this.heard(word);
      });
    });
  }

  private async within<T>(ms: number, signal: AbortSignal, what: Promise<T>): Promise<T> {
    let giveUp!: (error: Error) => void;
    const tooLong = new Promise<never>((_, reject) => (giveUp = reject));
    const timer = setTimeout(() => giveUp(new RenderLimit('time', `It took longer than ${ms} ms.`)), ms);
    const abort = (): void => giveUp(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      return await Promise.race([what, tooLong, this.ended.then((error) => Promise.reject(error))]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }
}

function start({ heapMb, flags }: PoolSpec): ChildProcess {
  const entry = findEntry();
  const reads = codeFolders(entry).map((folder) => `--allow-fs-read=${folder}`);
  return fork(entry, [], {
    cwd: '/',
    env: {},
    execArgv: [
      `--max-old-space-size=${heapMb}`,
      '--experimental-permission',
      '--allow-worker',
      ...reads,
      ...flags,
    ],
    serialization: 'advanced',
    // The last is the pipe by which it notices that this process died.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  });
}

async function endOf(child: ChildProcess): Promise<RenderLimit> {
  let said = '';
  child.stderr?.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-4_000)));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return new RenderLimit(
    'process',
    `Its process ended: ${signal ? `signal ${signal}` : `exit code ${code}`}.`,
  );
}

function told(answer: Answer): Answer {
  if (answer.said === 'invalid') throw new DiagramInvalid(answer.message, answer);
  if (answer.said === 'limit') throw new RenderLimit(answer.limit, answer.message);
  return answer;
}
