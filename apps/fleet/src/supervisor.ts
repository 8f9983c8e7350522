import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Events of a child that the launcher reports. */
export interface SupervisorEvents {
  line(name: string, line: string): void;
  /** The child exited before it reported its start. Later exits lead to a restart. */
  failedToStart(name: string, how: string): void;
  died(name: string, how: string, againInMs: number): void;
}

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
/** A child that ran this long resets the back-off. */
const STABLE_MS = 30_000;

/** Runs one process of the fleet: starts it, restarts it with back-off, and stops it within a time limit. */
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

  /** URL of the child's health endpoints, once it has started. */
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
    // Without a pid the process never ran, and no exit event follows.
    child.on('error', (error) => child.pid ?? this.ended(error.message, 0));
    child.once('exit', (code, signal) => this.ended(signal ?? `code ${code}`, Date.now() - began));
  }

  /** Sends SIGTERM, then SIGKILL after the time limit. Resolves when the process has exited, with whether it was in time. */
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
    // A child that had not yet registered its handler exits by the signal itself and had nothing to clean up.
    if (code === 0 || signal === 'SIGTERM') return 'in time';
    // A child that failed to start has exited by itself.
    return code !== null && !this.everStarted ? 'in time' : 'late';
  }

  private ended(how: string, ranMs: number): void {
    this.url = undefined;
    if (this.stopping) return;
    if (!this.everStarted) return this.events.failedToStart(this.name, how);
    if (ranMs > STABLE_MS) this.retryMs = FIRST_RETRY_MS;
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
