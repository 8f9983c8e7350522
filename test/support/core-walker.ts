import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./core-walk.mjs', import.meta.url));
const FAIL_POINT = new URL('./fail-point.mjs', import.meta.url).href;
const CLOCK_SHIFT = new URL('./clock-shift.mjs', import.meta.url).href;
const NO_COMMAND = 'before:#0';

export type WalkRole = 'producer' | 'worker' | 'canceller' | 'timekeeper';

/** A process of `core-walk.mjs` that is killed or loses an answer at one of its commands, or whose clock is wrong. */
export class Walker {
  private commands: number | undefined;

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (word: string | { commands: number }) => {
      if (typeof word === 'object') this.commands = word.commands;
    });
  }

  static async start(
    role: WalkRole,
    url: string,
    prefix: string,
    { failPoint = NO_COMMAND, clockShiftMs = 0 } = {},
  ): Promise<Walker> {
    // The test runner resolves names to the sources; a separate process runs the build.
    const execArgv = ['--import', CLOCK_SHIFT, '--import', FAIL_POINT];
    const env = { ...process.env, FAIL_POINT: failPoint, CLOCK_SHIFT_MS: String(clockShiftMs) };
    const walker = new Walker(fork(CHILD, [role, url, prefix], { execArgv, env }));
    await once(walker.child, 'message');
    return walker;
  }

  /**
   * @param jobs the jobs that a worker has to complete. Returns the number of commands, or undefined if it was killed.
   */
  async walk(jobs = 0): Promise<number | undefined> {
    const exited = once(this.child, 'exit');
    this.child.send(String(jobs));
    await exited;
    return this.commands;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
