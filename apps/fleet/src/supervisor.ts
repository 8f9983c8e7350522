import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** What the launcher needs to know of a child, to tell the person at the terminal. */
export interface SupervisorEvents {
  line(name: string, line: string): void;
  /** Before its first sign of life a death is a start that failed; afterwards it is started again. */
  failedToStart(name: string, how: string): void;
  died(name: string, how: string, againInMs: number): void;
}

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
/** A child that lived this long had started well; its next death is a new story. */
const LIVED_WELL_MS = 30_000;

/** Keeps one process of the fleet alive: starts it, starts it again when it dies, ends it in time. */
export class Supervisor {
  private child: ChildProcess | undefined;
  private retryTimer: NodeJS.Timeout | undefined;
  private retryMs = FIRST_RETRY_MS;
  private stopping = false;
  private url: string | undefined;
  private everStarted = false;

  constructor(
    readonly name: string,
    private readonly entry: string,
    private readonly env: NodeJS.ProcessEnv,
    private readonly events: SupervisorEvents,
  ) {}

  /** Where the child serves its health, once it does. */
  get address(): string | undefined {
    return this.url;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  start(): void {
    const began = Date.now();
    const child = fork(this.entry, [], {
      env: this.env,
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    this.url = undefined;
    for (const stream of [child.stdout, child.stderr])
      eachLine(stream!, (line) => this.events.line(this.name, line));
    child.on('message', (word: { type: string; url?: string }) => {
      if (word.type !== 'started') return;
      this.url = word.url;
      this.everStarted = true;
    });
    // Without a pid it never ran, and no exit will be told of it.
    child.on('error', (error) => child.pid ?? this.ended(error.message, 0));
    child.once('exit', (code, signal) => this.ended(signal ?? `code ${code}`, Date.now() - began));
  }

  /** Tells it to end; ends it hard when it takes too long. Resolves when it is gone, with whether that was in time. */
  async stop(timeoutMs: number): Promise<'in time' | 'late'> {
    this.stopping = true;
    clearTimeout(this.retryTimer);
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return 'in time';
    const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const [code, signal] = await exited;
    clearTimeout(timer);
    // A child that was told before it could listen ended by the signal itself, and had nothing to end.
    if (code === 0 || signal === 'SIGTERM') return 'in time';
    // One that could not start, as the other before it, has ended by itself.
    return code !== null && !this.everStarted ? 'in time' : 'late';
  }

  private ended(how: string, livedMs: number): void {
    this.url = undefined;
    if (this.stopping) return;
    if (!this.everStarted) return this.events.failedToStart(this.name, how);
    if (livedMs > LIVED_WELL_MS) this.retryMs = FIRST_RETRY_MS;
    this.events.died(this.name, how, this.retryMs);
    this.retryTimer = setTimeout(() => this.start(), this.retryMs);
    this.retryMs = Math.min(MAX_RETRY_MS, this.retryMs * 2);
  }
}

function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  stream.on('end', () => rest && take(rest));
}
