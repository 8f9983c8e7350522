import { spawn, type ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { root } from './process.js';

export interface Spoken {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line tool as a process of its own, with only the given environment. */
export class Mooring {
  constructor(private readonly env: NodeJS.ProcessEnv) {}

  start(args: readonly string[]): ChildProcess {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, ...this.env };
    return spawn(process.execPath, [`${root}/scripts/mooring.mjs`, ...args], { env, stdio: 'pipe' });
  }

  async run(args: readonly string[], input = ''): Promise<Spoken> {
    const child = this.start(args);
    const closed = new Promise<Pick<Spoken, 'code' | 'signal'>>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    child.stdin!.on('error', () => undefined).end(input);
    const [end, stdout, stderr] = await Promise.all([closed, text(child.stdout!), text(child.stderr!)]);
    return { ...end, stdout, stderr };
  }
}
