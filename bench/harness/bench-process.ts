import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const END_WITHIN_MS = 15_000;

/** A process that answers questions, one at a time. It says 'ready' first, and ends when its parent does. */
export class BenchProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly early: Promise<never>,
  ) {}

  static async start(entry: URL, args: readonly string[]): Promise<BenchProcess> {
    const child = fork(fileURLToPath(entry), args, { execArgv: [...execArgv()] });
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const early = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`a process of the benchmark ended early, with code ${code}`)),
    );
    early.catch(() => {});
    const started = new BenchProcess(child, early);
    await started.heard();
    return started;
  }

  async ask<T>(question: object): Promise<T> {
    const answer = this.heard();
    this.child.send(question);
    return (await answer) as T;
  }

  /** Lets the process finish and end, or kills it. */
  async stop(): Promise<void> {
    const gone = this.early.catch(() => {});
    const timer = setTimeout(() => this.child.kill('SIGKILL'), END_WITHIN_MS);
    if (this.child.connected) this.child.disconnect();
    await gone;
    clearTimeout(timer);
  }

  private async heard(): Promise<unknown> {
    const [message] = (await Promise.race([once(this.child, 'message'), this.early])) as [unknown];
    return message;
  }
}

/** Node options for the processes of a benchmark, such as those of a profile: `BENCH_NODE_OPTIONS="--cpu-prof"`. */
function execArgv(): string[] {
  return process.env['BENCH_NODE_OPTIONS']?.split(' ').filter(Boolean) ?? [];
}
