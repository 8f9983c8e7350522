import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A real process of Mooring, with all its output. */
export class TestProcess {
  readonly exited: Promise<Exit>;
  private text = '';
  private unread = '';
  private readonly seen: Record<string, unknown>[] = [];
  private startedUrl: string | undefined;

  constructor(readonly child: ChildProcess) {
    // Waits for the end of the output, not only for the exit, because the last output is read after it.
    this.exited = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => this.read(chunk));
    }
    child.on('message', (word: { type: string; url?: string }) => {
      if (word.type === 'started') this.startedUrl = word.url;
    });
  }

  /**
   * One app, as the launcher starts it.
   * @param home the folder of its project: another one for another version
   */
  static app(name: string, env: NodeJS.ProcessEnv, home = root): TestProcess {
    const packed = `${home}/dist/packed/${name}.js`;
    // A module that is loaded before an app can change it only if the app is not packed.
    const isPacked = existsSync(packed) && !env['NODE_OPTIONS'];
    const entry = isPacked ? packed : `${home}/dist/apps/${name}/src/main.js`;
    const stdio: ['ignore', 'pipe', 'pipe', 'ipc'] = ['ignore', 'pipe', 'pipe', 'ipc'];
    return new TestProcess(spawn(process.execPath, [entry], { env: cleanEnv(env), stdio, cwd: home }));
  }

  /** A script of the repository, as npm starts it. */
  static script(args: readonly string[], env: NodeJS.ProcessEnv): TestProcess {
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    return new TestProcess(spawn(process.execPath, args, { env: cleanEnv(env), stdio, cwd: root }));
  }

  get pid(): number {
    return this.child.pid!;
  }

  get output(): string {
    return this.text;
  }

  get url(): string | undefined {
    return this.startedUrl;
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Its JSON log lines so far. */
  facts(): readonly Record<string, unknown>[] {
    return this.seen;
  }

  private read(chunk: string): void {
    this.text += chunk;
    const lines = (this.unread + chunk).split('\n');
    this.unread = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('{')) this.seen.push(JSON.parse(line) as Record<string, unknown>);
    }
  }
}

/** The environment of the machine without the variables that would affect a test. */
function cleanEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG, ...env };
}
